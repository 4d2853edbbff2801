import type { FastifyReply } from 'fastify'

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
