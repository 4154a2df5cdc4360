import { ActivityKind } from '#domain/leads/events.ts'
import { z } from 'zod'
import { pipeline } from '#domain/pipeline/pipeline.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import {
  CustomField,
  FieldType,
  GradeBounds,
  Key,
  ReadingBudget,
  ScoreRule,
  Stage,
  StageKind,
  TeamMember,
  type Pipeline,
} from '#domain/pipeline/events.ts'
import { derivedId } from '#infra/ids.ts'
import type { OrganisationId } from '#domain/values.ts'
import { withoutUnseen } from '#domain/invisible-characters.ts'
import { EmailAddress } from '../email-address.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { eachKeptWhereLeftOut, unlessSeeded } from '../setup-file/kept.ts'
import {
  reportUnlessOne,
  type AnySetupSection,
  type SetupContext,
  type SetupOwner,
  type SetupSection,
  type Whole,
} from '../setup-file/section.ts'

type Part<Item> = {
  readonly key: string
  readonly schema: z.ZodType<Item>
  /** A name that must be unique within the list. */
  readonly nameOf?: (item: Item) => string
  /** The items that there are: what the file leaves out of one of the same name stays as it is. */
  readonly before?: (pipeline: Pipeline) => readonly Item[]
  readonly names?: readonly (keyof Item)[]
  readonly declared: (items: readonly Item[], setup: SetupContext, before: Pipeline | undefined) => Partial<Pipeline>
  readonly check?: (items: readonly Item[], setup: SetupContext, before: Pipeline | undefined) => void
  /** The list that declares this part of a pipeline. */
  readonly written: (pipeline: Pipeline, owner: SetupOwner) => readonly object[]
}

/** A list of the set-up file that is one part of the pipeline, and replaces it as a whole. */
const partSection = <Item extends object>(
  writer: Writer,
  { key, schema, nameOf, before: itemsOf, names, declared, check, written }: Part<Item>,
): SetupSection<Item> => {
  const { handle, preview, load } = commandHandler(writer, pipeline)
  return {
    key,
    schema,
    plan: async (given, setup) => {
      const { organisation_id, context, report } = setup
      const before = await load(organisation_id)
      const known = itemsOf && unlessSeeded(itemsOf(before ?? seededPipeline), itemsOf(seededPipeline))
      const items = nameOf && known ? eachKeptWhereLeftOut(given, known, setup.declared(key), nameOf, names) : given
      for (const [index, item] of items.entries()) {
        const earlier = nameOf ? items.findIndex((other) => nameOf(other) === nameOf(item)) : index
        if (earlier !== index) report([index], `is there already as ${key}[${earlier}]`)
      }
      check?.(items, setup, before)
      const command = { type: 'DeclarePipeline', organisation_id, declared: declared(items, setup, before) } as const
      const events = await preview(organisation_id, command)
      const change = events.length === 0 ? 'none' : before ? 'change' : 'create'
      return [
        {
          what: key.replaceAll('_', ' '),
          change,
          details:
            change === 'none'
              ? []
              : items.length === 0
                ? ['none']
                : items.map((item) => nameOf?.(item) ?? JSON.stringify(item)),
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async (owner) => {
      const declaredOne = await load(owner.organisation_id)
      return declaredOne && written(declaredOne, owner)
    },
  }
}

const DeclaredStage = z.strictObject({
  key: Key,
  label: Stage.shape.label,
  kind: StageKind.default('open'),
  probability: Stage.shape.probability.default(null),
})

const DeclaredMember = z.strictObject({
  id: z.uuid().toLowerCase().optional(),
  full_name: z.string().overwrite(withoutUnseen).min(1).max(100),
  email: EmailAddress,
  active: z.boolean().default(true),
})

const DeclaredField = z.strictObject({
  key: Key,
  label: CustomField.shape.label,
  type: FieldType.default('text'),
  options: CustomField.shape.options.default([]),
})

const DeclaredRule = z.strictObject({
  points: ScoreRule.shape.points,
  fact: ScoreRule.shape.fact.default(null),
  equals: z
    .union([ScoreRule.shape.equals, z.number(), z.boolean()])
    .default(null)
    .transform((value) => (value === null ? null : String(value))),
  activity: ActivityKind.nullable().default(null),
  source: ScoreRule.shape.source.default(null),
})

const DeclaredDeadlines = z.strictObject({
  first_contact_minutes: z.int().min(1).nullable().optional(),
  dormant_after_days: z.int().min(1).nullable().optional(),
})

const DeclaredReading = z.strictObject({
  calls_a_day: ReadingBudget.shape.calls_a_day.optional(),
  tokens_a_day: ReadingBudget.shape.tokens_a_day.optional(),
})

const memberIdOf = (organisation_id: OrganisationId, email: string): string =>
  derivedId('team_member', organisation_id, email)

const Choosable = z.object({ key: Key, options: CustomField.shape.options.min(1) })

/** The options of a fact, as the file says or said before; undefined where anything can be chosen. */
const optionsOf = (fact: string, declared: readonly unknown[], before: Pipeline | undefined) => {
  const fields = declared.length > 0 ? declared : (before?.custom_fields ?? [])
  return fields.map((field) => Choosable.safeParse(field).data).find((field) => field?.key === fact)?.options
}

/** An organisation's pipeline: one list for each part. */
export const pipelineSections = (writer: Writer): readonly AnySetupSection[] => [
  partSection(writer, {
    key: 'stages',
    schema: DeclaredStage,
    nameOf: ({ key }) => key,
    before: ({ stages }) => stages,
    declared: (stages) => ({ stages: [...stages] }),
    check: (stages, { report }) => {
      for (const kind of StageKind.options)
        if (!stages.some((stage) => stage.kind === kind)) report([], `there must be a stage of kind ${kind}`)
    },
    written: ({ stages }) => stages,
  }),
  partSection(writer, {
    key: 'team_members',
    schema: DeclaredMember,
    nameOf: ({ email }) => email.toLowerCase(),
    before: ({ team_members }) => team_members,
    names: ['id', 'active'],
    declared: (members, { organisation_id }) => ({
      team_members: members.map(({ id, ...member }): TeamMember => {
        const email = member.email.toLowerCase()
        return { ...member, email, id: id ?? memberIdOf(organisation_id, email) }
      }),
    }),
    written: ({ team_members }, { organisation_id, shows }) =>
      team_members.map(({ id, full_name, email, active }): Whole<z.input<typeof DeclaredMember>> => {
        shows(id)
        return { id: id === memberIdOf(organisation_id, email) ? undefined : id, full_name, email, active }
      }),
  }),
  partSection(writer, {
    key: 'custom_fields',
    schema: DeclaredField,
    nameOf: ({ key }) => key,
    before: ({ custom_fields }) => custom_fields,
    declared: (fields) => ({ custom_fields: [...fields] }),
    check: (fields, { report }) => {
      for (const [index, { type, options }] of fields.entries()) {
        const isChosen = type === 'choice' || type === 'choices'
        if (isChosen && options.length === 0) report([index, 'options'], 'must name what can be chosen')
        if (!isChosen && options.length > 0) report([index, 'options'], `has no place with type ${type}`)
      }
    },
    written: ({ custom_fields }) => custom_fields,
  }),
  partSection(writer, {
    key: 'score_rules',
    schema: DeclaredRule,
    declared: (rules) => ({ score_rules: [...rules] }),
    check: (rules, { report, declared }, before) => {
      for (const [index, { fact, equals, activity, source }] of rules.entries()) {
        const options =
          fact !== null && equals !== null ? optionsOf(fact, declared('custom_fields'), before) : undefined
        if (options && !options.includes(String(equals)))
          report([index, 'equals'], `must be one of ${options.join(', ')}, as the custom field has it`)
        if (equals !== null && fact === null) report([index, 'equals'], 'needs the fact that it is compared with')
        if (fact === null && activity === null && source === null)
          report([index], 'must name a fact, an activity or a source')
      }
    },
    written: ({ score_rules }) => score_rules,
  }),
  partSection(writer, {
    key: 'grades',
    schema: GradeBounds.strict(),
    declared: ([grades]) => (grades ? { grades } : {}),
    check: (grades, setup) => {
      reportUnlessOne(setup, grades, 'there is one list of bounds')
      const [bounds] = grades
      if (bounds && !(bounds.a > bounds.b && bounds.b > bounds.c && bounds.c > bounds.d))
        setup.report([0], 'must fall from a to d')
    },
    written: ({ grades }) => [grades],
  }),
  partSection(writer, {
    key: 'lead_deadlines',
    schema: DeclaredDeadlines,
    declared: ([deadlines], _setup, before = seededPipeline) => {
      const { first_contact_minutes = before.first_contact_minutes, dormant_after_days = before.dormant_after_days } =
        deadlines ?? {}
      return deadlines ? { first_contact_minutes, dormant_after_days } : {}
    },
    check: (deadlines, setup) => reportUnlessOne(setup, deadlines, 'there is one set of deadlines'),
    written: ({ first_contact_minutes, dormant_after_days }) => [{ first_contact_minutes, dormant_after_days }],
  }),
  partSection(writer, {
    key: 'lead_reading',
    schema: DeclaredReading,
    declared: ([reading], _setup, before = seededPipeline) =>
      reading ? { reading: ReadingBudget.parse({ ...before.reading, ...reading }) } : {},
    check: (budgets, setup) => reportUnlessOne(setup, budgets, 'there is one budget'),
    written: ({ reading }) => [reading],
  }),
]
