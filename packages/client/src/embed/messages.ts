/** What the element tells the page around it, and the `detail` of each event. */
export interface AutomationRulesEvents {
  /** The frame shows its first page. */
  ready: { path: string }
  /** It shows another one. `replace`: in the place of the one before. */
  path: { path: string; replace?: boolean }
  /** Whether something is typed that is not saved. */
  dirty: { isDirty: boolean }
  saved: { ruleId: string; version?: number; isDraft: boolean }
  promoted: { ruleId: string; version: number }
  error: { message: string; status?: number }
  /** Set `src` to the url of a new session. */
  'session-needed': { reason: 'none' | 'used' | 'expired' | 'ended' }
}

/** What the page tells the frame. */
export interface ToFrame {
  hello: { colorScheme?: ColorScheme }
  colorScheme: { colorScheme: ColorScheme }
  open: { path: string }
  save: Record<never, never>
  discard: Record<never, never>
  session: { url: string }
}

export type ColorScheme = 'light' | 'dark'

/** The compiler asks for each event here, and no other type of message becomes one. */
const events: Record<keyof AutomationRulesEvents, true> = {
  ready: true,
  path: true,
  dirty: true,
  saved: true,
  promoted: true,
  error: true,
  'session-needed': true,
}

export function isEvent(type: unknown): type is keyof AutomationRulesEvents {
  return typeof type === 'string' && Object.hasOwn(events, type)
}
