import type { z } from 'zod'
import { plainWords, reasonsOf } from '../reasons.ts'
import type { JointBasis, ReleaseQuestion } from './events.ts'
import { eachOf, fault, repeats, under, when, type Fault } from './faults.ts'
import type { Presentation } from './record.ts'
import { stageConfigs, type StageConfig } from './stage-config.ts'

type Stage = Presentation['stages'][number]

/** The context in which presentation stages are checked. */
export type Surroundings = {
  readonly questions: readonly ReleaseQuestion[]
  readonly joint: JointBasis
  readonly wholeOfMarket: boolean
}

export const presentationFaults = (
  presentations: readonly Presentation[],
  surroundings: Surroundings,
): readonly Fault[] => {
  const defaults = presentations.filter(({ is_default }) => is_default)
  return [
    ...repeats('presentations', presentations, 'id'),
    ...repeats('presentations', presentations, 'slug'),
    ...when(
      presentations.length > 0 && defaults.length !== 1,
      ['presentations'],
      `exactly one must have is_default true, not ${defaults.length}`,
    ),
    ...eachOf('presentations', presentations, ({ id, stages }) => [
      ...repeats('stages', stages, 'key'),
      ...when(consumers(stages).length > 1, ['stages'], 'only one stage can take all remaining questions'),
      ...eachOf('stages', stages, (stage, index) => [
        ...when(stage.position !== index + 1, ['position'], `must be ${index + 1}: stages count from 1`),
        ...when(
          stage.id !== `stg_${id}_${stage.position}`,
          ['id'],
          'must be made of the presentation and the position',
        ),
        ...when(stage.title.trim() === '', ['title'], 'must not be empty'),
        ...typeFaults(stage, surroundings),
        ...under(['config'], configFaults(stage, stages, surroundings)),
      ]),
    ]),
  ]
}

const consumers = (stages: readonly Stage[]) =>
  stages.filter(({ stage_type, config }) => stage_type === 'questions' && config['all_remaining'] === true)

const typeFaults = ({ stage_type }: Stage, { joint, wholeOfMarket }: Surroundings) => [
  ...when(
    stage_type === 'partner_details' && joint.mode === 'never',
    ['stage_type'],
    'the product is never for two people: joint.mode is never',
  ),
  ...when(
    stage_type === 'market_quotes' && !wholeOfMarket,
    ['stage_type'],
    'only a whole_of_market product has market quotes',
  ),
]

const configFaults = (
  { stage_type, config }: Stage,
  stages: readonly Stage[],
  surroundings: Surroundings,
): readonly Fault[] => {
  switch (stage_type) {
    case 'soft_identity':
    case 'partner_details':
      return parsed(stageConfigs[stage_type], config, fieldFaults)
    case 'personal_details':
      return parsed(stageConfigs[stage_type], config, personalDetailsFaults)
    case 'cover_capture':
      return parsed(stageConfigs[stage_type], config, coverCaptureFaults)
    case 'questions':
      return parsed(stageConfigs[stage_type], config, (of) => questionsFaults(of, surroundings))
    case 'interstitial':
      return parsed(stageConfigs[stage_type], config, (of) => interstitialFaults(of, stages))
    case 'quote':
    case 'market_quotes':
    case 'before_you_buy':
    case 'payment':
    case 'confirmation':
    case 'handoff':
      return parsed<unknown>(stageConfigs[stage_type], config, () => [])
  }
}

/** The faults of a config that has the shape of its type; otherwise how it differs from that shape. */
const parsed = <Config>(
  schema: z.ZodType<Config>,
  config: unknown,
  faultsOf: (config: Config) => readonly Fault[],
): readonly Fault[] => {
  const { success, data, error } = schema.safeParse(config, { error: plainWords })
  if (success) return faultsOf(data)
  return reasonsOf(error.issues).map(({ path, reason }) =>
    fault(
      path.map((part) => (typeof part === 'number' ? part : String(part))),
      reason,
    ),
  )
}

const fieldFaults = ({ fields, required_fields }: { fields: readonly string[]; required_fields: readonly string[] }) =>
  required_fields.flatMap((field, index) =>
    when(!fields.includes(field), ['required_fields', index], `${field} is not one of the fields`),
  )

const personalDetailsFaults = (config: StageConfig<'personal_details'>) => [
  ...fieldFaults(config),
  ...repeats('consent_opt_outs', config.consent_opt_outs, 'key'),
  ...when(
    config.address_lookup && !config.fields.includes('address'),
    ['address_lookup'],
    'address is not one of the fields',
  ),
]

const coverCaptureFaults = ({ mode, amount, term, tiers }: StageConfig<'cover_capture'>) => {
  const isWithin = (value: number | null, least: number, most: number) =>
    value === null || (value >= least && value <= most)
  return [
    ...when(mode === 'amount_term' && amount === null, ['amount'], 'the mode amount_term needs it'),
    ...when(mode === 'tiers' && tiers.length === 0, ['tiers'], 'the mode tiers needs at least one'),
    ...repeats('tiers', tiers, 'cover_amount_pence'),
    ...(amount
      ? under(
          ['amount'],
          [
            ...when(amount.min_pence > amount.max_pence, ['max_pence'], 'is below min_pence'),
            ...when(
              !isWithin(amount.default_pence, amount.min_pence, amount.max_pence),
              ['default_pence'],
              'is not within min_pence and max_pence',
            ),
            ...amount.presets_pence.flatMap((preset, index) =>
              when(
                !isWithin(preset, amount.min_pence, amount.max_pence),
                ['presets_pence', index],
                'is not within min_pence and max_pence',
              ),
            ),
          ],
        )
      : []),
    ...(term
      ? under(
          ['term'],
          [
            ...when(term.min > term.max, ['max'], 'is below min'),
            ...when(!isWithin(term.default, term.min, term.max), ['default'], 'is not within min and max'),
          ],
        )
      : []),
  ]
}

const questionsFaults = (
  { all_remaining, group_keys, question_keys, units }: StageConfig<'questions'>,
  { questions }: Surroundings,
) => [
  ...when(
    [all_remaining, group_keys.length > 0, question_keys.length > 0].filter(Boolean).length !== 1,
    [],
    'name one of all_remaining, group_keys and question_keys',
  ),
  ...group_keys.flatMap((key, index) =>
    when(!questions.some(({ group_key }) => group_key === key), ['group_keys', index], `there is no group ${key}`),
  ),
  ...question_keys.flatMap((key, index) =>
    when(
      !questions.some((question) => question.key === key && question.question_type !== 'derived'),
      ['question_keys', index],
      `no question that is asked has the key ${key}`,
    ),
  ),
  ...Object.keys(units).flatMap((key) =>
    when(
      !questions.some((each) => each.key === key && ['number', 'integer'].includes(each.question_type)),
      ['units', key],
      `no question that is asked for a number has the key ${key}`,
    ),
  ),
]

const interstitialFaults = ({ choices }: StageConfig<'interstitial'>, stages: readonly Stage[]) => [
  ...repeats('choices', choices, 'key'),
  ...eachOf('choices', choices, ({ goto_stage_key }) =>
    when(
      goto_stage_key !== null && !stages.some(({ key }) => key === goto_stage_key),
      ['goto_stage_key'],
      `there is no stage ${goto_stage_key}`,
    ),
  ),
]
