import { Type } from 'typebox'

/** The characters of hosts in a Content Security Policy: none that ends a source, begins another directive, or stands for many hosts. */
const host = '[a-z0-9-]+(?:\\.[a-z0-9-]+)*'
/** A policy has no syntax for an address of IPv6: browsers ignore `http://[::1]`. */
const loopback = 'localhost|127\\.0\\.0\\.1'

/** An origin whose pages may frame the console. The pattern leaves to `isFrameOrigin` what only a URL knows, such as usual ports. */
const origin = {
  maxLength: 300,
  pattern: `^(?:https://${host}|http://(?:${loopback}))(?::[0-9]{1,5})?$`,
  patternError:
    'be an origin as browsers send it, such as https://app.example.com: https, or http on localhost or 127.0.0.1, in lower case, without a path or a usual port',
}

export const FrameOrigins = Type.Array(Type.String(origin), {
  maxItems: 20,
  uniqueItems: true,
  description: 'Origins whose pages may frame the embed sessions of the workspace',
})

/** What an origin is that is none. */
export const frameOriginFault = `Must ${origin.patternError}`

const pattern = new RegExp(origin.pattern)

/** Whether a text is to the letter what a browser sends as the origin of a page that may frame the console. */
export function isFrameOrigin(text: string): boolean {
  return (
    text.length <= origin.maxLength &&
    pattern.test(text) &&
    URL.canParse(text) &&
    new URL(text).origin === text
  )
}
