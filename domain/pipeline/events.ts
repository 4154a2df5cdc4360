import { z } from 'zod'
import { event, personal, type EventOf, type Json } from '../event.ts'
import { OrganisationId } from '../values.ts'

/** The name of something that an organisation sets up, as programs use it. */
export const Key = z.string().regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

export const StageKind = z.enum(['open', 'won', 'lost'])
export type StageKind = z.infer<typeof StageKind>

export const Stage = z.object({
  key: Key,
  label: z.string().min(1).max(100),
  kind: StageKind,
  /** The chance of a sale in percent; null: not said. */
  probability: z.int().min(0).max(100).nullable(),
})
export type Stage = z.infer<typeof Stage>

/** Somebody of the organisation, who can own leads. */
export const TeamMember = z.object({
  id: z.uuid(),
  full_name: personal(z.string().min(1).max(100)),
  email: personal(z.email()),
  active: z.boolean(),
})
export type TeamMember = z.infer<typeof TeamMember>

export const FieldType = z.enum(['text', 'number', 'money', 'date', 'boolean', 'choice', 'choices'])
export type FieldType = z.infer<typeof FieldType>

/** A fact about a lead that the organisation wants to know. */
export const CustomField = z.object({
  key: Key,
  label: z.string().min(1).max(100),
  type: FieldType,
  /** The choices; empty for other types. */
  options: z.array(z.string().min(1).max(100)).max(200),
})
export type CustomField = z.infer<typeof CustomField>

/** Points that a lead scores while everything that the rule names is so. */
export const ScoreRule = z.object({
  points: z.int().min(-100).max(100),
  /** A fact of this key is known. */
  fact: Key.nullable(),
  /** And it has this value, as text. */
  equals: z.string().max(200).nullable(),
  /** At least one activity of this kind is on the timeline. */
  activity: Key.nullable(),
  /** The lead was first sent by this source. */
  source: Key.nullable(),
})
export type ScoreRule = z.infer<typeof ScoreRule>

/** The least score of each grade; below D it is E. */
export const GradeBounds = z.object({ a: z.int(), b: z.int(), c: z.int(), d: z.int() })

/** An organisation's daily limits on its language model for reading leads; null: no limit. */
export const ReadingBudget = z.object({
  calls_a_day: z.int().min(0).max(2_000_000_000).nullable(),
  tokens_a_day: z.int().min(0).nullable(),
})

export const Pipeline = z.object({
  /** In the order of work: a lead begins at the first open one. */
  stages: z.array(Stage),
  team_members: z.array(TeamMember),
  custom_fields: z.array(CustomField),
  score_rules: z.array(ScoreRule),
  grades: GradeBounds,
  /** Minutes within which a new lead should be contacted; null: no deadline. */
  first_contact_minutes: z.int().min(1).nullable(),
  /** Days without contact after which an open lead is dormant; null: never. */
  dormant_after_days: z.int().min(1).nullable(),
  reading: ReadingBudget,
})
export type Pipeline = z.infer<typeof Pipeline>

const BeforeReading = z.looseObject({ pipeline: z.looseObject({}) })

/** Before there were budgets for reading, nobody had a model. */
const withReading = (data: Json): Json => {
  const { pipeline, ...rest } = BeforeReading.parse(data)
  return { ...rest, pipeline: { ...pipeline, reading: { calls_a_day: 1_000, tokens_a_day: null } } }
}

/** Stream `pipeline-<organisation id>`: how the organisation works its leads. */
export const pipelineEvents = {
  /** All of it as it is from now on. */
  PipelineDeclared: event({ organisation_id: OrganisationId, pipeline: Pipeline }, { upcasts: [withReading] }),
}
export type PipelineEvent = EventOf<typeof pipelineEvents>
