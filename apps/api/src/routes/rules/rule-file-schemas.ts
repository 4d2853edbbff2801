import {
  EmailTemplateToCreate,
  FullDefinition,
  maxRules,
  maxTemplates,
  RuleToCreate,
} from '@automation/rules'
import { Type } from 'typebox'

// The examples stand in the requests of createRule and createEmailTemplate, and one component has one shape.
const { examples: _, ...RuleInFile } = RuleToCreate as typeof RuleToCreate & { examples?: unknown }
const { examples: __, ...TemplateInFile } = EmailTemplateToCreate as typeof EmailTemplateToCreate & {
  examples?: unknown
}

export const RuleInSet = RuleInFile as typeof RuleToCreate

/** The format of the command line (RuleFileSchema of packages/rules), without tests: only the command line runs them. */
export const RuleFileOfApi = Type.Object(
  {
    version: Type.Enum([1], { description: 'Version of the format' }),
    rules: Type.Array(RuleInSet, { maxItems: maxRules }),
    emailTemplates: Type.Optional(
      Type.Array(TemplateInFile as typeof EmailTemplateToCreate, {
        maxItems: maxTemplates,
        description: 'Without it, an import does not change them',
      }),
    ),
  },
  { title: 'RuleFile', additionalProperties: false },
)

export const RuleFileToImport = Type.Object(
  {
    file: RuleFileOfApi,
    dryRun: Type.Optional(Type.Boolean({ description: 'Only show the changes. Default: true.' })),
    prune: Type.Optional(
      Type.Boolean({
        description: 'Permanently delete rules and email templates that are not in the file. Default: false.',
      }),
    ),
    labels: Type.Optional({
      ...FullDefinition.properties.labels,
      minItems: 1,
      description:
        'Change and delete only rules that have all of these labels, which all rules of the file must have. Email templates of the file are created and changed, and none is deleted.',
    }),
    maxDeletions: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'How many `prune` may delete. Default: a third of the rules, and a third of the email templates.',
      }),
    ),
  },
  { title: 'RuleFileToImport', additionalProperties: false },
)

const Names = Type.Array(Type.String())
const PlannedChanges = Type.Object(
  {
    create: Names,
    change: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          fields: Type.Array(
            Type.Object(
              {
                field: Type.String(),
                before: Type.Optional(Type.Unknown({ description: 'In a dry run. Absent if it has none' })),
                after: Type.Optional(Type.Unknown({ description: 'In a dry run. Absent if it has none' })),
              },
              { title: 'PlannedFieldChange' },
            ),
          ),
        },
        { title: 'PlannedChange' },
      ),
    ),
    delete: Names,
    unchanged: Names,
    others: Type.Array(Type.String(), { description: 'Not in the file, and kept: `prune` deletes them' }),
    almostSame: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), other: Type.String() }, { title: 'AlmostSameName' }), {
        description:
          'New names, and others from which only blanks at the ends or the Unicode form of letters differ. Absent if there are none.',
      }),
    ),
  },
  { title: 'PlannedChanges' },
)
export const RuleImport = Type.Object(
  {
    applied: Type.Boolean({ description: 'false: a dry run, which changed nothing' }),
    rules: PlannedChanges,
    emailTemplates: PlannedChanges,
    missingCredentials: Type.Array(Type.String(), {
      description:
        'Credentials that rules of the file name and the workspace lacks: calls that send them fail',
    }),
  },
  { title: 'RuleImport' },
)
