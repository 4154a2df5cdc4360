import { z } from 'zod'
import { event, type EventOf, type Json } from '../event.ts'
import { OrganisationId } from '../values.ts'

/** The rules for a premium that is not paid. */
export const CollectionRules = z.object({
  /** After a failure it is collected again after so many days; as often as there are numbers. */
  retry_after_days: z.array(z.int().min(1).max(60)).max(5),
  /** Cover is suspended so many days after the oldest unpaid premium was due, and ends after so many. */
  suspend_after_days: z.int().min(1).max(365),
  lapse_after_days: z.int().min(2).max(730),
  /** A lapsed policy can be reinstated for so long. */
  reinstate_within_days: z.int().min(0).max(730),
})
export type CollectionRules = z.infer<typeof CollectionRules>

export const defaultCollectionRules: CollectionRules = {
  retry_after_days: [10, 10],
  suspend_after_days: 30,
  lapse_after_days: 60,
  reinstate_within_days: 90,
}

/** The published rise of prices in percent: `3.4`. */
export const Percent = z.string().regex(/^\d{1,2}(\.\d{1,2})?$/, 'must be a percentage such as 3.4')

/** The firm's contact details in documents. */
export const FirmContact = z.object({
  address: z.string().nullable(),
  phone: z.string().nullable(),
  email: z.string().nullable(),
})
export type FirmContact = z.infer<typeof FirmContact>

export const noContact: FirmContact = { address: null, phone: null, email: null }

export const PolicyRules = z.object({
  collection_rules: CollectionRules,
  /** The retail prices index by year: what is indexed in a year goes by the figure of that year. */
  rpi: z.array(z.object({ year: z.int().min(1990).max(2200), percent: Percent })).max(200),
  /** Neither a cover nor its premium grows by more in a year. */
  rpi_cap_percent: Percent,
  contact: FirmContact,
})
export type PolicyRules = z.infer<typeof PolicyRules>

/** Stream `policy_rules-<organisation id>`: how an organisation keeps its policies. */
export const policyRulesEvents = {
  /** All of it as it is from now on. */
  PolicyRulesDeclared: event(
    { organisation_id: OrganisationId, rules: PolicyRules },
    { upcasts: [({ rules, ...v1 }) => ({ ...v1, rules: { ...(rules as Json), contact: noContact } })] },
  ),
}
export type PolicyRulesEvent = EventOf<typeof policyRulesEvents>
