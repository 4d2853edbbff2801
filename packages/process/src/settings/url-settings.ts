import { Type } from 'typebox'

type Options = { description: string; default?: string }

/** A setting that is a URL of `http` or `https`. Like the others, a wrong one is refused without its value. */
export function webUrl(options: Options) {
  return urlSetting(/^https?:\/\/[^/?#]/, options, 'that begins with https:// or http://')
}

/** The same without a path: what is appended to it is one. */
export function originUrl(options: Options) {
  const pattern = /^https?:\/\/[^/?#@]+\/?$/
  return urlSetting(pattern, options, 'that begins with https:// or http://, without a path')
}

/** The same that a path is appended to. */
export function baseUrl(options: Options) {
  const pattern = /^https?:\/\/[^/?#][^?#]*$/
  return urlSetting(pattern, options, 'that begins with https:// or http://, without ? and #')
}

/**
 * A setting that is the URL of one server, with user and password. A `/`, `?` or `#` of a password that is not encoded ends the host: the
 * rest of the password would be taken for the name of a database, and its beginning for a host.
 *
 * @param isRight what else has to hold
 */
export function serverUrl(
  pattern: RegExp,
  options: Options,
  isRight: (url: URL) => boolean = () => true,
  read = readUrl,
) {
  return urlSetting(
    pattern,
    options,
    'of one server; in a user or a password write %23 for #, %2F for /, %3F for ?, %40 for @ and %25 for %',
    (url) => isOfOneServer(url) && isRight(url),
    read,
  )
}

function isOfOneServer({ protocol, username, password, host, pathname, search, hash }: URL): boolean {
  const isWhole = hash === '' && !host.includes(',') && !`${pathname}${search}`.includes('@')
  // The client of Postgres takes a lone % of a user or a password as it is.
  return isWhole && (/^postgres/.test(protocol) ? [pathname] : [username, password]).every(canDecode)
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function urlSetting(
  pattern: RegExp,
  options: Options,
  expected: string,
  isRight: (url: URL) => boolean = () => true,
  read = readUrl,
) {
  return Type.Refine(
    Type.String(options),
    (text) => {
      const url = pattern.test(text) ? read(text) : undefined
      return url !== undefined && isRight(url)
    },
    () => `must be a URL ${expected}`,
  )
}

/**
 * Reads a URL. One of Postgres may have a user and no host, if its `?host=` names a socket; its host is `localhost` here.
 *
 * @returns undefined if it is none
 */
export function readUrl(text: string): URL | undefined {
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/, '$1localhost')
  return URL.canParse(whole) ? new URL(whole) : undefined
}
