import { formatterOf } from './zoned-time.js'

/**
 * Whether a text is the name of a zone in the IANA database, in any case, that this process knows. Intl alone is no judge of names: it takes
 * abbreviations that the database does not have, and means places that nobody expects (BST is Dhaka, AST is Alaska).
 */
export function isZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false
  const key = name.toLowerCase()
  known ??= listNames()
  if (!known.has(key) && !key.startsWith('etc/')) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/** What is wrong with a text that is no zone. */
export function describeNoZone(name: string): string {
  const meant = meanings[name.toUpperCase()]
  const hint = meant === undefined ? '' : `: ${name.toUpperCase()} may mean ${meant.replaceAll(' ', ' or ')}`
  return `must be an IANA time zone such as Europe/Berlin${hint}`
}

/** In lower case. */
let known: Set<string> | undefined

/** Intl lists zones that are newer than this code, each under one of its names. */
function listNames(): Set<string> {
  const names = Object.entries(otherNames).flatMap(([area, places]) =>
    places.split(' ').map((place) => (area === '' ? place : `${area}/${place}`)),
  )
  return new Set([...names, ...Intl.supportedValuesOf('timeZone')].map((name) => name.toLowerCase()))
}

/**
 * By area: the names of the database (2025b, with those of its file `backward`) that Intl does not list, and those that it lists although the
 * database has renamed them. Another version of Intl may list the other one of two names. Those of Etc are read by Intl alone.
 */
const otherNames: Record<string, string> = {
  Africa: 'Asmara Asmera Timbuktu',
  'America/Argentina': 'Buenos_Aires Catamarca ComodRivadavia Cordoba Jujuy Mendoza',
  America:
    'Atikokan Atka Buenos_Aires Catamarca Coral_Harbour Cordoba Ensenada Fort_Wayne Godthab Indianapolis Jujuy Knox_IN Kralendijk Louisville Lower_Princes Marigot Mendoza Montreal Nipigon Nuuk Pangnirtung Porto_Acre Rainy_River Rosario Santa_Isabel Shiprock St_Barthelemy Thunder_Bay Virgin Yellowknife',
  'America/Indiana': 'Indianapolis',
  'America/Kentucky': 'Louisville',
  Antarctica: 'South_Pole',
  Arctic: 'Longyearbyen',
  Asia: 'Ashkhabad Calcutta Choibalsan Chongqing Chungking Dacca Harbin Ho_Chi_Minh Istanbul Kashgar Kathmandu Katmandu Kolkata Macao Rangoon Saigon Tel_Aviv Thimbu Ujung_Pandang Ulan_Bator Yangon',
  Atlantic: 'Faeroe Faroe Jan_Mayen',
  Australia: 'ACT Canberra Currie LHI NSW North Queensland South Tasmania Victoria West Yancowinna',
  Brazil: 'Acre DeNoronha East West',
  '': 'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu',
  Canada: 'Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon',
  Chile: 'Continental EasterIsland',
  Europe:
    'Belfast Bratislava Busingen Kiev Kyiv Mariehamn Nicosia Podgorica San_Marino Tiraspol Uzhgorod Vatican Zaporozhye',
  Mexico: 'BajaNorte BajaSur General',
  Pacific: 'Chuuk Enderbury Johnston Kanton Pohnpei Ponape Samoa Truk Yap',
  US: 'Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa',
}

/** What people in different places mean by an abbreviation. */
const meanings: Record<string, string> = {
  ACT: 'America/Rio_Branco Australia/Darwin',
  AEDT: 'Australia/Sydney',
  AEST: 'Australia/Sydney Australia/Brisbane',
  AET: 'Australia/Sydney',
  ART: 'America/Argentina/Buenos_Aires',
  AST: 'America/Halifax',
  AWST: 'Australia/Perth',
  BRT: 'America/Sao_Paulo',
  BST: 'Europe/London Asia/Dhaka',
  CAT: 'Africa/Harare',
  CDT: 'America/Chicago America/Havana',
  CEST: 'Europe/Berlin',
  CST: 'America/Chicago Asia/Shanghai America/Havana',
  EAT: 'Africa/Nairobi',
  ECT: 'America/Guayaquil',
  EDT: 'America/New_York',
  EEST: 'Europe/Athens',
  IST: 'Asia/Kolkata Europe/Dublin Asia/Jerusalem',
  JST: 'Asia/Tokyo',
  KST: 'Asia/Seoul',
  MDT: 'America/Denver',
  MSK: 'Europe/Moscow',
  NST: 'America/St_Johns',
  NZST: 'Pacific/Auckland',
  PDT: 'America/Los_Angeles',
  PST: 'America/Los_Angeles Asia/Manila',
  SGT: 'Asia/Singapore',
  SST: 'Pacific/Pago_Pago Asia/Singapore',
}
