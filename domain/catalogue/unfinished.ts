import { isSellable } from '../checkout/record.ts'
import type { Draft } from './events.ts'

/** Nobody can buy without these, and their premiums cannot be collected. */
const neededToBuy = ['first_name', 'last_name', 'dob', 'email', 'address'] as const

/** Products are sold all the same, and never paid for. */
export const neverCollected = (mode: 'test' | 'live'): string =>
  `the organisation has no payment account of the mode ${mode}: of what is sold, nothing is ever collected (payment_accounts)`

type Known = { readonly hasRpiFigures: boolean }

/** Gaps that do not stop publication, and stand in somebody's way later. */
export const unfinished = (draft: Draft, { hasRpiFigures }: Known): readonly string[] => [
  ...(draft.journeys.length === 0 ? ['has no journeys: no application can be started'] : []),
  ...(draft.underwriting.rules.length > 0 && !draft.covers.some(({ pricing_basis }) => pricing_basis === 'rated')
    ? ['has underwriting, and no rated cover: its rules decide nothing. An answer that declines is terminal_outcome']
    : []),
  ...(isSellable(draft) ? [] : ['checkout.demands_and_needs is required and has no statement: nobody can buy it']),
  ...draft.journeys.flatMap(({ presentations }, journey) =>
    presentations.flatMap(({ stages }, place) => {
      if (!stages.some(({ stage_type }) => stage_type === 'payment')) return []
      const asked = stages.flatMap(({ stage_type, config }) =>
        (stage_type === 'personal_details' || stage_type === 'soft_identity') && Array.isArray(config['fields'])
          ? (config['fields'] as readonly unknown[]) // of any values
          : [],
      )
      const missing = neededToBuy.filter((field) => !asked.includes(field))
      return missing.length === 0
        ? []
        : [
            `journeys[${journey}].presentations[${place}] does not ask for ${missing.join(', ')}: nobody can buy without`,
          ]
    }),
  ),
  ...(hasRpiFigures
    ? []
    : draft.covers.flatMap(({ indexation_method }, index) =>
        indexation_method === 'rpi'
          ? [`covers[${index}] follows the retail prices, and policy_rules has no figure in rpi: it waits for one`]
          : [],
      )),
]
