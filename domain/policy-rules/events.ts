import { z } from 'zod'
import { event, type EventOf, type Json } from '../event.ts'
import { CollectionRules } from '../policies/events.ts'
import { OrganisationId } from '../values.ts'

/** By how many percent prices have risen, as it is published: `3.4`. */
export const Percent = z.string().regex(/^\d{1,2}(\.\d{1,2})?$/, 'must be a percentage such as 3.4')

/** How a customer reaches the firm, as its documents say. */
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
