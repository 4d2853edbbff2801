import { Type } from 'typebox'
import { originUrl } from './url-settings.js'

/** The settings that the console and the maker of its links share. */
export const consoleSettings = {
  CONSOLE_URL: originUrl({
    default: 'http://127.0.0.1:3003',
    description: 'URL under which browsers open it, without a path: https, or http on the loopback address',
  }),
  CONSOLE_SECRET: Type.String({
    pattern: '^[^,]{32,}(,\\s*[^,\\s][^,]{31,})*$',
    description:
      '32 characters or more, without a comma, that encrypt sessions and links; of several, separated by commas, the first encrypts and all decrypt',
  }),
}
