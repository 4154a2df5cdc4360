import { z } from 'zod'
import { Channel, Pence } from '../values.ts'

/**
 * The config of a stage, by the type of the stage. Everything that may be left out of a draft has a default, so that a
 * published config always has all of its keys.
 */

const IdentityField = z.enum(['first_name', 'last_name', 'email', 'phone', 'dob', 'address'])
const SoftIdentityField = z.enum(['first_name', 'last_name', 'email', 'phone', 'postcode', 'dob'])

/** A box that, ticked, refuses messages for a purpose on these channels. */
export const ConsentOptOut = z.object({
  key: z.string().regex(/^[a-z][a-z0-9_]*$/, 'use lower-case letters, digits and underscores'),
  label: z.string().min(1),
  purpose: z.enum(['first_party_marketing', 'third_party_marketing']),
  channels: z.array(Channel).min(1),
  basis: z.literal('soft_opt_in').default('soft_opt_in'),
})
export type ConsentOptOut = z.infer<typeof ConsentOptOut>

/** The firm's own question about marketing consent, answered by channel. */
export const MarketingQuestion = z.object({
  label: z.string().min(1),
  channels: z.array(Channel).min(1),
  style: z.literal('opt_in').default('opt_in'),
})
export type MarketingQuestion = z.infer<typeof MarketingQuestion>

const text = z.string().min(1)
const textOrNull = text.nullable().default(null)
const flag = (byDefault: boolean) => z.boolean().default(byDefault)
const Years = z.int().min(1)

const SoftIdentity = z.object({
  fields: z.array(SoftIdentityField).min(1),
  required_fields: z.array(SoftIdentityField).default([]),
  intro: textOrNull,
})

const PersonalDetails = z.object({
  fields: z.array(IdentityField).min(1),
  required_fields: z.array(IdentityField).default([]),
  address_lookup: flag(false),
  phone_check: z
    .object({ enabled: flag(true), reject_switched_off: flag(false) })
    .default({ enabled: true, reject_switched_off: false }),
  consent_opt_outs: z.array(ConsentOptOut).default([]),
  marketing_question: MarketingQuestion.nullable().default(null),
})

const PartnerDetails = z.object({
  fields: z.array(IdentityField).min(1),
  required_fields: z.array(IdentityField).default([]),
  same_address: flag(false),
})

const CoverCapture = z.object({
  mode: z.enum(['amount_term', 'tiers', 'members', 'components']),
  amount: z
    .object({
      min_pence: Pence.min(0),
      max_pence: Pence.min(0),
      step_pence: Pence.min(1),
      default_pence: Pence.nullable().default(null),
      presets_pence: z.array(Pence).default([]),
    })
    .nullable()
    .default(null),
  term: z
    .object({ min: Years, max: Years, step: Years.default(1), default: Years.nullable().default(null) })
    .nullable()
    .default(null),
  tiers: z.array(z.object({ cover_amount_pence: Pence, label: text })).default([]),
  benefit_label: textOrNull,
})

const Questions = z.object({
  all_remaining: flag(false),
  group_keys: z.array(text).default([]),
  question_keys: z.array(text).default([]),
  per_page: z.int().min(1).nullable().default(null),
  /** The unit of a number, by the key of its question: pages show it beside the answer. */
  units: z.record(text, text.max(20)).default({}),
})

const Interstitial = z.object({
  heading: text,
  /** Markdown. */
  body: z.string().default(''),
  image_url: z.url().nullable().default(null),
  choices: z.array(z.object({ key: text, label: text, goto_stage_key: textOrNull })).default([]),
  auto_advance_seconds: z.int().min(1).nullable().default(null),
})

const QuoteStage = z.object({
  label: text,
  show_components: flag(true),
  allow_cover_edit: flag(true),
  compare_terms: z.array(Years).default([]),
})

const MarketQuotesStage = z.object({
  label: text,
  sort: z.enum(['premium', 'provider']).default('premium'),
  max_results: z.int().min(1).nullable().default(null),
})

const Payment = z.object({
  methods: z
    .array(z.enum(['direct_debit', 'card']))
    .min(1)
    .default(['direct_debit']),
  collection_days: z.array(z.int().min(1).max(28)).nullable().default(null),
  show_guarantee: flag(true),
})

const Confirmation = z.object({ heading: text, body: z.string().default(''), next_steps: z.array(text).default([]) })

const Handoff = z.object({ heading: text, body: z.string().default(''), phone: textOrNull, callback_form: flag(false) })

export const stageConfigs = {
  soft_identity: SoftIdentity,
  personal_details: PersonalDetails,
  partner_details: PartnerDetails,
  cover_capture: CoverCapture,
  questions: Questions,
  interstitial: Interstitial,
  quote: QuoteStage,
  market_quotes: MarketQuotesStage,
  before_you_buy: z.object({ heading: textOrNull }),
  payment: Payment,
  confirmation: Confirmation,
  handoff: Handoff,
}

export type StageConfig<Type extends keyof typeof stageConfigs> = z.output<(typeof stageConfigs)[Type]>
