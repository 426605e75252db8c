"""Statistics: the bootstrap over clusters, intervals, paired tests, the draws of generators."""
