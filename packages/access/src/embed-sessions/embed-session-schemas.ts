import { actionDefinitions, EventType } from '@automation/engine'
import { Type } from 'typebox'
import { DateTime, orNull, textOnce } from '../credential.js'
import { CredentialName } from '../credentials/credential-schemas.js'

/** What a session may see. Each operation that a session may call belongs to one or several of these. */
export const EmbedPage = Type.Enum(['rules', 'executions', 'events', 'decisions', 'tasks'], {
  title: 'EmbedPage',
})
export type EmbedPage = Type.Static<typeof EmbedPage>

/** No session manages a workspace. */
export const EmbedRole = Type.Enum(['viewer', 'operator', 'editor'], {
  title: 'EmbedRole',
  description: 'Role of the session, at most that of the caller',
})
export type EmbedRole = Type.Static<typeof EmbedRole>

/** A name is shown to others, in the audit log too: nothing in it may hide or turn what stands beside it. */
const shownText = {
  // The engines of other languages write a code point above 0xff each in another way, so that it stands here as itself.
  pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$',
  patternError: 'have no control characters, and none that are invisible or change the direction of text',
}

export const EmbedUser = Type.Object(
  {
    id: Type.String({
      ...shownText,
      minLength: 1,
      maxLength: 200,
      description: 'Id of the user in your product, who need not be a member',
    }),
    name: Type.Optional(Type.String({ ...shownText, minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false, title: 'EmbedUser' },
)
export type EmbedUser = Type.Static<typeof EmbedUser>

const maxNames = 100
const listOf = <Item extends Type.TSchema>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: maxNames, uniqueItems: true, description }))

export const EmbedAllow = Type.Object(
  {
    triggers: listOf(EventType, 'Event types of triggers, and of what actions emit and wait for'),
    actions: listOf(
      Type.Enum(
        actionDefinitions.map(({ type }) => type),
        { title: 'EmbedAction' },
      ),
      'Types of actions',
    ),
    credentials: listOf(CredentialName, 'Names of credentials'),
  },
  {
    additionalProperties: false,
    title: 'EmbedAllow',
    description:
      'What rules may consist of that the session changes or runs. A part that is left out is not limited. A rule with anything else can be read only.',
  },
)
export type EmbedAllow = Type.Static<typeof EmbedAllow>

/** A short list of values: no CSS. */
export const EmbedAppearance = Type.Object(
  {
    colorScheme: Type.Optional(Type.Enum(['light', 'dark', 'auto'])),
    accent: Type.Optional(
      Type.String({ pattern: '^#[0-9a-fA-F]{6}$', patternError: 'be a colour such as #0055cc' }),
    ),
    radius: Type.Optional(Type.Integer({ minimum: 0, maximum: 24, description: 'px' })),
    fonts: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 50,
          pattern: '^[A-Za-z0-9 -]*$',
          patternError: 'be the name of a font: letters, digits, spaces and -',
        }),
        { maxItems: 5, description: 'Names of fonts, in the order of preference' },
      ),
    ),
    density: Type.Optional(Type.Enum(['comfortable', 'compact'])),
  },
  { additionalProperties: false, title: 'EmbedAppearance' },
)
export type EmbedAppearance = Type.Static<typeof EmbedAppearance>

const Rule = Type.String({ format: 'uuid', description: 'Id of the one rule that the session is limited to' })
const Locale = Type.String({
  maxLength: 35,
  pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
  patternError: 'be a language tag such as de-CH',
  description: 'Language of dates and numbers (BCP 47)',
})
const publish = {
  description: 'false: the session saves drafts, and creates inactive rules, only.',
}

export const EmbedSessionToCreate = Type.Object(
  {
    user: EmbedUser,
    role: EmbedRole,
    pages: Type.Array(EmbedPage, { minItems: 1, uniqueItems: true }),
    rule: Type.Optional(
      Type.String({
        maxLength: 36,
        description: 'Id of the one rule that the session is limited to',
      }),
    ),
    allow: Type.Optional(EmbedAllow),
    publish: Type.Optional(Type.Boolean({ description: `${publish.description} Default: false.` })),
    expiresIn: Type.Optional(
      Type.String({ description: 'Duration from 1m to 12h, from its creation. Default: 1h.', maxLength: 20 }),
    ),
    locale: Type.Optional(Locale),
    appearance: Type.Optional(EmbedAppearance),
  },
  { additionalProperties: false, title: 'EmbedSessionToCreate' },
)
export type EmbedSessionToCreate = Type.Static<typeof EmbedSessionToCreate>

export const EmbedSession = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    user: EmbedUser,
    role: EmbedRole,
    pages: Type.Array(EmbedPage),
    rule: orNull(Rule),
    allow: orNull(EmbedAllow),
    publish: Type.Boolean(publish),
    createdBy: Type.String({ description: 'Who made it, as the audit log names them' }),
    createdAt: DateTime,
    openedAt: orNull({ ...DateTime, description: 'When its link was used. null: not yet' }),
    expiresAt: DateTime,
  },
  { title: 'EmbedSession' },
)
export type EmbedSession = Type.Static<typeof EmbedSession>

/** The only response that contains the link. */
export const NewEmbedSession = Type.Object(
  {
    id: EmbedSession.properties.id,
    ...textOnce('url', 'Address of the frame.'),
    expiresAt: DateTime,
  },
  { title: 'NewEmbedSession' },
)

/** What a session may, for the frame. */
const grant = {
  user: EmbedUser,
  role: EmbedRole,
  pages: Type.Array(EmbedPage),
  rule: Type.Optional(Rule),
  allow: Type.Optional(EmbedAllow),
  publish: Type.Boolean(publish),
  expiresAt: DateTime,
  locale: Type.Optional(Locale),
  appearance: Type.Optional(EmbedAppearance),
}

export const EmbedGrant = Type.Object(
  { id: Type.String({ format: 'uuid' }), ...grant },
  { title: 'EmbedGrant' },
)
export type EmbedGrant = Type.Static<typeof EmbedGrant>

/** What the server of the frame tells the browser, and the frame asks of the page around it. */
export const EmbedFrame = Type.Object(
  {
    origins: Type.Array(Type.String(), {
      description: 'Origins whose pages may frame it: those of its workspace, and those of the operator',
    }),
  },
  { title: 'EmbedFrame' },
)

export const OpenedEmbedSession = Type.Object(
  {
    token: Type.String({
      description: 'Token for the header Authorization. Only this response contains it.',
    }),
    workspaceId: Type.String({ format: 'uuid' }),
    ...EmbedGrant.properties,
    ...EmbedFrame.properties,
  },
  { title: 'OpenedEmbedSession' },
)
export type OpenedEmbedSession = Type.Static<typeof OpenedEmbedSession>
