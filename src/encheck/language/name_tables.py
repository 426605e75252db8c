"""Lists of names, written for encheck: given names by gender, titles, places and organisations with their other names.

A country, body or company has a short form and a long form, each with its article.
"""

from __future__ import annotations

MALE = frozenset(
    """Aaron Adam Adrian Alan Albert Alexander Alfred Allan Allen Andre Andrew Anthony Antonio Arnold Arthur Barry
    Benjamin Bernard Bill Bob Bradley Brandon Brendan Brian Bruce Bryan Carl Carlos Charles Christopher
    Clarence Colin Craig Daniel Dave David Dennis Derek Diego Donald Douglas Duncan Edgar Edmund Eduardo
    Edward Edwin Enrique Eric Ernest Ethan Eugene Felix Fernando Francisco Frank Franklin Fred Frederick
    Gareth Gary Geoffrey George Gerald Gerard Gilbert Gordon Graham Greg Gregory Harold Harry Harvey Hector
    Henry Herbert Howard Hugh Ian Isaac Ivan Jack Jacob James Jason Jeff Jeffrey Jeremy Jerome Jerry Jesse
    Jim Joe Joel John Johnny Jonathan Jorge Jose Joseph Joshua Juan Julian Justin Keith Kenneth Kevin Larry
    Laurence Lawrence Leonard Leroy Louis Lucas Luis Luke Malcolm Manuel Marcus Mario Mark Martin Marvin
    Matthew Maurice Max Michael Miguel Mike Mitchell Nathan Neil Nicholas Nigel Norman Oliver Oscar Patrick
    Paul Pedro Peter Philip Phillip Rafael Ralph Raymond Ricardo Richard Rob Robert Roberto Rodney Roger
    Roland Ron Ronald Ross Roy Russell Ryan Samuel Scott Sean Sergio Simon Stanley Stephen Steve Steven
    Stuart Ted Terence Theodore Thomas Tim Timothy Todd Tom Tony Trevor Vernon Victor Vincent Walter Warren
    Wayne Wesley William Zachary""".split()
)
FEMALE = frozenset(
    """Abigail Alexandra Alice Alison Amanda Amelia Amy Angela Anita Ann Anna Anne Annie Audrey Barbara Beatrice
    Bernice Bertha Beth Betty Beverly Brenda Bridget Camille Carla Carmen Carol Caroline Catherine Cecilia
    Charlotte Chelsea Cheryl Christina Christine Cindy Claire Clara Claudia Connie Cynthia Deborah Debra Denise
    Diana Diane Donna Doris Dorothy Edith Eileen Elaine Eleanor Elena Elizabeth Ellen Emily Emma Erica
    Esther Eva Evelyn Fiona Florence Frances Gail Gloria Hannah Heather Heidi Helen Hilary Hillary Ingrid
    Irene Isabel Jacqueline Jane Janet Janice Jennifer Jessica Joan Joanna Josephine Joyce Judith Judy Julia
    Julie Karen Kate Katherine Kathleen Kathryn Katie Kimberly Laura Lauren Leah Lillian Linda Lisa Lois
    Lorraine Louise Lucy Lydia Margaret Maria Marie Marilyn Marjorie Marlene Martha Mary Maureen Megan
    Melissa Michelle Monica Nancy Naomi Natalie Nicole Nora Olivia Pamela Patricia Paula Peggy Phyllis
    Rachel Rebecca Rita Roberta Rosemary Ruth Sally Samantha Sandra Sarah Sharon Sheila Shirley Sonia Sophia
    Stella Stephanie Sue Susan Suzanne Sylvia Tamara Teresa Theresa Tina Ursula Vanessa Veronica Victoria
    Virginia Vivian Wanda Wendy Yolanda Yvonne""".split()
)
GENDERED = frozenset(
    """he him his himself she her hers herself man woman men women boy girl husband wife father mother son daughter
    brother sister uncle aunt actor actress king queen prince princess mr mrs ms miss sir lady lord nephew
    niece congressman congresswoman businessman businesswoman chairman chairwoman spokesman spokeswoman
    widow widower girlfriend boyfriend policeman policewoman mom dad mum grandfather grandmother waitress
    ballerina nun monk pope mr. mrs. ms. guy lad female male feminine bride groom""".split()
)
PEOPLE = (  # used if the data have no other person: given name, surname
    "Martin Hayes", "Peter Lowell", "Andrew Marsh", "Kevin Doyle", "Simon Archer", "Daniel Whitlock", "Richard Pell",
    "Helen Marsh", "Laura Doyle", "Karen Whitlock", "Diana Pell", "Susan Archer", "Julia Hayes", "Emily Lowell",
)  # fmt: skip
SURNAMES = ("Hayes", "Lowell", "Marsh", "Doyle", "Archer", "Whitlock", "Pell", "Barlow", "Kendall", "Sutton")
TITLES = {
    "Senator": "Sen.", "Governor": "Gov.", "Professor": "Prof.", "Doctor": "Dr.", "General": "Gen.", "Colonel": "Col.",
    "Captain": "Capt.", "Lieutenant": "Lt.", "Sergeant": "Sgt.", "Representative": "Rep.", "Reverend": "Rev.",
    "President": "Pres.", "Detective": "Det.", "Sheriff": "", "Mayor": "", "Judge": "", "Chancellor": "",
    "Minister": "",
    "Secretary": "", "Commissioner": "", "Chairman": "", "Director": "", "Justice": "",
    "Mr.": "Mr", "Mrs.": "Mrs", "Ms.": "Ms", "Miss": "", "Officer": "", "Analyst": "", "Coach": "", "Ambassador": "",
    "Attorney": "", "Congressman": "", "Councilman": "", "Dr": "", "Prof": "", "Sen": "", "Rep": "", "Gov": "",
    "Gen": "",
    "Lt": "", "Sgt": "", "Capt": "", "Col": "", "Rev": "", "Actor": "", "Actress": "", "Singer": "",
}  # fmt: skip

FURTHER_TITLES = frozenset(  # no given names; some are also surnames
    """Abbot Admiral Archbishop Aunt Ayatollah Baron Baroness Bishop Brigadier Brother Cardinal Chief Commander Comrade
    Congresswoman Constable Corporal Count Countess Czar Dame Deacon Duchess Duke Earl Emperor Empress Farmer Father
    Frau Grandma Grandpa Herr Imam Inspector King Lady Lord Madame Mademoiselle Major Marshal Monsieur Mother Mullah
    Nurse Pastor Pope Prince Princess Private Queen Rabbi Saint Senor Senora Señor Señora Sheik Sheikh Sir Sister Sultan
    Swami Tsar Uncle Viscount""".split()
)

LEADERS = {  # surnames that identify a person
    "m": """Tony Blair, Barack Obama, Donald Trump, Vladimir Putin, Narendra Modi, Yasser Arafat, Donald Rumsfeld,
    Dick Cheney, Robert Mugabe, Jacques Chirac, Gerhard Schroeder, Silvio Berlusconi, Junichiro Koizumi,
    Mikhail Gorbachev, Boris Yeltsin, Benjamin Netanyahu, Pervez Musharraf, Hamid Karzai, Hosni Mubarak,
    Nicolas Sarkozy, Francois Hollande, Emmanuel Macron, Volodymyr Zelensky, Ronald Reagan, Richard Nixon,
    Henry Kissinger, Alan Greenspan, John Ashcroft,
    Arnold Schwarzenegger, Recep Tayyip Erdogan, Mahmoud Ahmadinejad, Winston Churchill, Dwight Eisenhower""",
    "f": """Angela Merkel, Margaret Thatcher, Condoleezza Rice, Hillary Clinton, Theresa May, Indira Gandhi,
    Kamala Harris, Nancy Pelosi, Golda Meir, Benazir Bhutto""",
}
ALONE = frozenset(  # persons whom the surname alone identifies
    """Blair Obama Trump Putin Modi Arafat Rumsfeld Cheney Mugabe Chirac Schroeder Berlusconi Koizumi Gorbachev
    Yeltsin Netanyahu Musharraf Karzai Mubarak Sarkozy Hollande Macron Zelensky Reagan Nixon Kissinger
    Greenspan Ashcroft Schwarzenegger Erdogan Ahmadinejad Churchill Eisenhower Merkel Thatcher Pelosi Meir
    Bhutto""".split()
)

COUNTRIES = dict(
    row.split(" = ")
    for row in """
Afghanistan = the Islamic Republic of Afghanistan
Albania = the Republic of Albania
Algeria = the People's Democratic Republic of Algeria
Argentina = the Argentine Republic
Australia = the Commonwealth of Australia
Austria = the Republic of Austria
Bangladesh = the People's Republic of Bangladesh
Belgium = the Kingdom of Belgium
Bolivia = the Plurinational State of Bolivia
Brazil = the Federative Republic of Brazil
Bulgaria = the Republic of Bulgaria
Cambodia = the Kingdom of Cambodia
Cameroon = the Republic of Cameroon
Chile = the Republic of Chile
China = the People's Republic of China
Colombia = the Republic of Colombia
Croatia = the Republic of Croatia
Cuba = the Republic of Cuba
Cyprus = the Republic of Cyprus
Denmark = the Kingdom of Denmark
Ecuador = the Republic of Ecuador
Egypt = the Arab Republic of Egypt
Estonia = the Republic of Estonia
Ethiopia = the Federal Democratic Republic of Ethiopia
Finland = the Republic of Finland
France = the French Republic
Germany = the Federal Republic of Germany
Ghana = the Republic of Ghana
Greece = the Hellenic Republic
Guatemala = the Republic of Guatemala
Haiti = the Republic of Haiti
Honduras = the Republic of Honduras
Iceland = the Republic of Iceland
India = the Republic of India
Indonesia = the Republic of Indonesia
Iran = the Islamic Republic of Iran
Iraq = the Republic of Iraq
Israel = the State of Israel
Italy = the Italian Republic
Kazakhstan = the Republic of Kazakhstan
Kenya = the Republic of Kenya
Kuwait = the State of Kuwait
Latvia = the Republic of Latvia
Liberia = the Republic of Liberia
Libya = the State of Libya
Lithuania = the Republic of Lithuania
Malawi = the Republic of Malawi
Malta = the Republic of Malta
Mexico = the United Mexican States
Mongolia = the State of Mongolia
Morocco = the Kingdom of Morocco
Mozambique = the Republic of Mozambique
Namibia = the Republic of Namibia
Nepal = the Federal Democratic Republic of Nepal
Nicaragua = the Republic of Nicaragua
Nigeria = the Federal Republic of Nigeria
North Korea = the Democratic People's Republic of Korea
Norway = the Kingdom of Norway
Pakistan = the Islamic Republic of Pakistan
Panama = the Republic of Panama
Paraguay = the Republic of Paraguay
Peru = the Republic of Peru
Poland = the Republic of Poland
Portugal = the Portuguese Republic
Qatar = the State of Qatar
Russia = the Russian Federation
Rwanda = the Republic of Rwanda
Saudi Arabia = the Kingdom of Saudi Arabia
Senegal = the Republic of Senegal
Serbia = the Republic of Serbia
Singapore = the Republic of Singapore
Slovakia = the Slovak Republic
Slovenia = the Republic of Slovenia
Somalia = the Federal Republic of Somalia
South Africa = the Republic of South Africa
South Korea = the Republic of Korea
Spain = the Kingdom of Spain
Sudan = the Republic of the Sudan
Sweden = the Kingdom of Sweden
Switzerland = the Swiss Confederation
Syria = the Syrian Arab Republic
Tanzania = the United Republic of Tanzania
Thailand = the Kingdom of Thailand
Tunisia = the Republic of Tunisia
Uganda = the Republic of Uganda
Uruguay = the Oriental Republic of Uruguay
Uzbekistan = the Republic of Uzbekistan
Venezuela = the Bolivarian Republic of Venezuela
Vietnam = the Socialist Republic of Vietnam
Yemen = the Republic of Yemen
Zambia = the Republic of Zambia
Zimbabwe = the Republic of Zimbabwe
Bahrain = the Kingdom of Bahrain
Costa Rica = the Republic of Costa Rica
East Timor = the Democratic Republic of Timor-Leste
El Salvador = the Republic of El Salvador
Japan = the nation of Japan
Canada = the nation of Canada
Romania = the nation of Romania
Hungary = the nation of Hungary
New Zealand = the nation of New Zealand
Jamaica = the nation of Jamaica
Fiji = the Republic of Fiji
Laos = the Lao People's Democratic Republic
Lebanon = the Lebanese Republic
Myanmar = the Republic of the Union of Myanmar
Oman = the Sultanate of Oman
Sri Lanka = the Democratic Socialist Republic of Sri Lanka
Turkmenistan = the nation of Turkmenistan
Ukraine = the nation of Ukraine
the Czech Republic = Czechia
the Netherlands = the Kingdom of the Netherlands
the Philippines = the Republic of the Philippines
the United States = the United States of America
the United Kingdom = the United Kingdom of Great Britain and Northern Ireland""".strip().splitlines()
)
SAME_COUNTRY = {  # a form in a text: the same country in a different form
    "the U.S.": "the United States", "the US": "the United States", "the USA": "the United States of America",
    "the U.K.": "the United Kingdom", "the UK": "the United Kingdom", "the U.S.A.": "the United States of America",
    "the United States of America": "the U.S.",
}  # fmt: skip
STATES = frozenset(
    """Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois
    Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi
    Missouri Montana Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania Tennessee Texas Utah Vermont
    Wisconsin Wyoming""".split()
) | {"New Jersey", "New Mexico", "North Carolina", "South Carolina", "North Dakota", "South Dakota", "West Virginia",
     "New Hampshire", "Rhode Island"}  # fmt: skip
CITIES = frozenset(
    """Amsterdam Ankara Athens Atlanta Auckland Austin Baghdad Baltimore Bangkok Barcelona Beijing Beirut Belfast
    Belgrade Berlin Birmingham Boston Brisbane Brussels Bucharest Budapest Cairo Calcutta Caracas Chicago
    Cincinnati Cleveland Cologne Copenhagen Dallas Delhi Denver Detroit Dublin Edinburgh Frankfurt Geneva
    Glasgow Hamburg Hanoi Havana Helsinki Houston Istanbul Jakarta Jerusalem Johannesburg Kabul Karachi Kiev
    Kolkata Lagos Lahore Leeds Lisbon Liverpool London Lyon Madrid Manchester Manila Marseille Melbourne
    Memphis Miami Milan Milwaukee Minneapolis Minsk Montreal Moscow Mumbai Munich Nairobi Nashville Oslo
    Ottawa Paris Philadelphia Phoenix Pittsburgh Portland Prague Rome Sacramento Seattle Seoul Shanghai
    Stockholm Strasbourg Sydney Tehran Tokyo Toronto Turin Vancouver Venice Vienna Warsaw Zurich Basra
    Fallujah Mosul Najaf Damascus Aleppo Riyadh Bogota Lima Bangalore Chennai Hyderabad Pune Ahmedabad
    Jaipur Lucknow Tampa Orlando Louisville Tucson Omaha Tulsa Honolulu Anchorage Albuquerque Rochester
    Calgary Edmonton Winnipeg Bristol Sheffield Nottingham Leicester Cardiff Southampton Rotterdam Antwerp
    Krakow Naples Genoa Palermo Seville Valencia Zagreb Sarajevo Skopje Sofia Tbilisi Yerevan Baku Tashkent
    Dhaka Kathmandu Colombo Rangoon Saigon Taipei Osaka Kyoto Nagoya Perth Adelaide Christchurch Pyongyang
    Casablanca Sunnyvale Peterborough Coimbatore Knoxville Kandahar Kirkuk Tikrit Karbala Islamabad Peshawar
    Rawalpindi Mecca Jeddah Dubai Algiers Tunis Tripoli Khartoum Mogadishu Harare Lusaka Kampala Monrovia
    Abuja Kinshasa Dakar Accra Durban Pretoria Soweto Guadalajara Monterrey Tijuana Managua Quito Santiago
    Montevideo Brasilia Recife Bremen Dresden Leipzig Stuttgart Dortmund Salzburg Graz Basel Bern Lausanne
    Ghent Gothenburg Tampere Gdansk Lodz Bratislava Ljubljana Vilnius Riga Tallinn Chisinau Odessa Kharkiv
    Lviv Donetsk Vladivostok Novosibirsk Grozny Almaty Ulaanbaatar Chengdu Guangzhou Shenzhen Wuhan Nanjing
    Hangzhou Tianjin Xi'an Fukuoka Sapporo Hiroshima Nagasaki Busan Incheon Cebu Surabaya Bandung Hobart
    Canberra Dunedin Halifax Saskatoon Norwich Plymouth Portsmouth Coventry Sunderland Newcastle Swansea
    Aberdeen Dundee Limerick Galway Oakland Pasadena Fresno Bakersfield Spokane Tacoma Boise Wichita Toledo
    Akron Dayton Raleigh Savannah Jacksonville Tallahassee Birmingham Montgomery Chattanooga Hartford
    Worcester Syracuse Albany Scranton Allentown Indianapolis Topeka Arequipa Kolkata Chandigarh Bhopal
    Indore Nagpur Patna Kochi Noida Gurgaon""".split()
) | {"Los Angeles", "San Francisco", "San Diego", "New Orleans", "Las Vegas", "San Antonio", "St. Louis",
     "Hong Kong", "Tel Aviv", "New Delhi", "Sao Paulo", "Rio de Janeiro", "San Jose",
     "Buenos Aires", "Cape Town", "Kuala Lumpur"}  # fmt: skip

BODIES = {  # short: long, with their articles
    "body": {
        "the EU": "the European Union", "the UN": "the United Nations", "the WHO": "the World Health Organization",
        "the IMF": "the International Monetary Fund", "the WTO": "the World Trade Organization",
        "NATO": "the North Atlantic Treaty Organization", "UNESCO":
        "the United Nations Educational, Scientific and Cultural Organization",
        "OPEC": "the Organization of the Petroleum Exporting Countries",
        "the IAEA": "the International Atomic Energy Agency", "the OECD":
        "the Organisation for Economic Co-operation and Development", "ASEAN":
        "the Association of Southeast Asian Nations",
    },
    "bank": {
        "the Fed": "the Federal Reserve", "the ECB": "the European Central Bank",
        "the BoE": "the Bank of England", "the RBI": "the Reserve Bank of India", "the BoJ": "the Bank of Japan",
    },
    "space": {
        "NASA": "the National Aeronautics and Space Administration", "ESA": "the European Space Agency",
        "JAXA": "the Japan Aerospace Exploration Agency", "ISRO": "the Indian Space Research Organisation",
    },
    "police": {
        "the FBI": "the Federal Bureau of Investigation", "the CIA": "the Central Intelligence Agency",
        "the NSA": "the National Security Agency", "the DEA": "the Drug Enforcement Administration",
        "the ATF": "the Bureau of Alcohol, Tobacco, Firearms and Explosives",
    },
    "agency": {
        "the FDA": "the Food and Drug Administration", "the SEC": "the Securities and Exchange Commission",
        "the EPA": "the Environmental Protection Agency", "the FCC": "the Federal Communications Commission",
        "the FTC": "the Federal Trade Commission", "the FAA": "the Federal Aviation Administration",
        "the IRS": "the Internal Revenue Service",
        "the CDC": "the Centers for Disease Control and Prevention",
        "the NTSB": "the National Transportation Safety Board",
    },
    "league": {
        "the NBA": "the National Basketball Association", "the NFL": "the National Football League",
        "the NHL": "the National Hockey League", "the NCAA": "the National Collegiate Athletic Association",
        "the PGA": "the Professional Golfers' Association",
    },
    "university": {
        "MIT": "the Massachusetts Institute of Technology", "UCLA": "the University of California, Los Angeles",
        "Harvard": "Harvard University", "Yale": "Yale University", "Stanford": "Stanford University",
        "Princeton": "Princeton University", "Cornell": "Cornell University", "Caltech":
        "the California Institute of Technology",
    },
}  # fmt: skip
SAME_BODY = {"the U.N.": "the United Nations", "the E.U.": "the European Union", "the F.B.I.": "the FBI"}
COMPANIES = {
    "Microsoft": "Microsoft Corp.", "Intel": "Intel Corp.", "Oracle": "Oracle Corp.", "PeopleSoft": "PeopleSoft Inc.",
    "Dell": "Dell Inc.", "Cisco": "Cisco Systems Inc.", "Boeing": "Boeing Co.", "Pfizer": "Pfizer Inc.",
    "Merck": "Merck & Co.", "Motorola": "Motorola Inc.", "Nokia": "Nokia Corp.", "Sony": "Sony Corp.",
    "Toyota": "Toyota Motor Corp.", "Honda": "Honda Motor Co.", "IBM": "International Business Machines Corp.",
    "General Motors": "General Motors Corp.", "General Electric": "General Electric Co.", "Walmart": "Walmart Inc.",
    "Wal-Mart": "Wal-Mart Stores Inc.", "Infosys": "Infosys Ltd.", "Wipro": "Wipro Ltd.", "Nvidia": "Nvidia Corp.",
    "Halliburton": "Halliburton Co.", "Chevron": "Chevron Corp.", "ExxonMobil": "Exxon Mobil Corp.",
    "Citigroup": "Citigroup Inc.", "Goldman Sachs": "Goldman Sachs Group Inc.", "Morgan Stanley":
    "Morgan Stanley & Co.", "Hewlett-Packard": "Hewlett-Packard Co.", "Procter & Gamble": "Procter & Gamble Co.",
}  # fmt: skip
NO_PERSON = frozenset([  # names that look like given name and surname
    "Tim Hortons",
    "Merrill Lynch", "Grant Thornton", "Morgan Stanley", "Ernst Young", "Arthur Andersen", "Charles Schwab",
    "Wells Fargo", "Johnson Johnson", "Kriss Kross", "Kris Kross",
    "Harry Potter", "Santa Claus", "Jesus Christ", "Ralph Lauren",
    "Calvin Klein", "Tommy Hilfiger", "Harley Davidson", "Aston Martin", "Alfa Romeo", "Rolls Royce",
    "Jack Daniels", "Jim Beam", "Louis Vuitton", "Mary Kay", "Ben Jerry", "Legg Mason", "Smith Barney", "Eli Lilly",
    "Philip Morris", "Piper Jaffray", "Thomas Weisel", "Raymond James", "Lehman Brothers", "Freddie Mac",
    "Fannie Mae", "Sallie Mae", "Papa Johns", "Dow Jones", "Standard Poor", "John Deere", "Virgin Mary",
    "Hong Kong", "Perez Hilton", "Led Zeppelin", "Pink Floyd", "Jethro Tull", "Lynyrd Skynyrd", "Marks Spencer",
    "Robin Hood", "Sherlock Holmes", "Mickey Mouse", "Donald Duck", "Quaker Oats", "Booz Allen", "Abu Ghraib",
    "Abu Dhabi", "John Doe", "Jane Doe",
])  # fmt: skip
LEGAL = frozenset([
    "Inc.", "Inc", "Corp.", "Corp", "Corporation", "Incorporated", "Ltd.", "Ltd", "Limited", "Plc", "plc", "PLC", "LLC",
    "GmbH", "AG", "Co.",
])  # fmt: skip
OTHERS = {
    "person": "someone else", "country": "another country", "state": "another state", "city": "another city",
    "body": "another organization", "agency": "another agency", "bank": "another bank",
    "space": "another agency", "police": "another agency", "leader": "someone else", "league": "another league",
    "university": "another university", "company": "another company",
}  # fmt: skip
