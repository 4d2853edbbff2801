import type { FastifyReply } from 'fastify'

/**
 * The name of a cookie of this console. Cookies know no ports: without the port in the name, two consoles of one host would replace
 * each other's. Browsers accept the prefix only with Secure and without a domain. Safari drops Secure cookies of http://localhost, so
 * there is none on the loopback address.
 */
export function cookieName(word: string, { protocol, port }: URL): string {
  const [prefix, usualPort] = protocol === 'https:' ? ['__Host-', '443'] : ['', '80']
  return `${prefix}${word}-console-${port || usualPort}`
}

/** The first cookie of this name. Its values are sealed texts without any character that would need quotes. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

export function cookieOptions(options: {
  maxAgeSeconds: number
  isSecure: boolean
  sameSite: 'Strict' | 'Lax'
}): string {
  const { maxAgeSeconds, isSecure, sameSite } = options
  return `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`
}

/** Adds a cookie to those that the response has. */
export function writeCookie(reply: FastifyReply, cookie: string): void {
  const before = [reply.getHeader('set-cookie') ?? []].flat() as string[]
  reply.header('set-cookie', [...before, cookie])
}
