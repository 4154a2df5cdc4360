import { z } from 'zod'
import { CollectionRules } from '#domain/policies/events.ts'
import { noContact, PolicyRules, type PolicyRules as Rules } from '#domain/policy-rules/events.ts'
import { policyRules } from '#domain/policy-rules/policy-rules.ts'
import { defaultPolicyRules } from '#domain/policy-rules/record.ts'
import { withoutUnseen } from '#domain/unseen.ts'
import { EmailAddress } from '../email-address.ts'
import { commandHandler, type Writer } from '../handle.ts'
import { reportUnlessOne, type SetupSection } from '../setup-section.ts'

const { collection_rules: collection, rpi_cap_percent } = defaultPolicyRules

const line = (most: number) => z.string().overwrite(withoutUnseen).min(1).max(most).nullable().default(null)

const DeclaredContact = z.strictObject({
  address: line(300),
  phone: line(50),
  email: EmailAddress.nullable().default(null),
})

const DeclaredRules = z.strictObject({
  retry_after_days: CollectionRules.shape.retry_after_days.default(collection.retry_after_days),
  suspend_after_days: CollectionRules.shape.suspend_after_days.default(collection.suspend_after_days),
  lapse_after_days: CollectionRules.shape.lapse_after_days.default(collection.lapse_after_days),
  reinstate_within_days: CollectionRules.shape.reinstate_within_days.default(collection.reinstate_within_days),
  rpi: PolicyRules.shape.rpi.default([]),
  rpi_cap_percent: PolicyRules.shape.rpi_cap_percent.default(rpi_cap_percent),
  contact: DeclaredContact.default(noContact),
})
type DeclaredRules = z.output<typeof DeclaredRules>

const rulesOf = ({ rpi, rpi_cap_percent: cap, contact, ...collection_rules }: DeclaredRules): Rules => ({
  collection_rules,
  contact,
  rpi,
  rpi_cap_percent: cap,
})

/** How an organisation keeps its policies: what follows from unpaid premiums, and the figures of indexation. */
export const policyRulesSection = (writer: Writer): SetupSection<DeclaredRules> => {
  const { handle, preview, load } = commandHandler(writer, policyRules)

  return {
    key: 'policy_rules',
    schema: DeclaredRules,
    plan: async (items, setup) => {
      const { organisation_id, context, report } = setup
      reportUnlessOne(setup, items, 'there is one set of rules')
      const [declared] = items
      if (!declared) return []
      if (declared.lapse_after_days <= declared.suspend_after_days)
        report([0, 'lapse_after_days'], 'must be more than suspend_after_days')
      for (const [index, { year }] of declared.rpi.entries())
        if (declared.rpi.findIndex((figure) => figure.year === year) !== index)
          report([0, 'rpi', index, 'year'], 'has its figure already')

      const command = { type: 'DeclarePolicyRules', organisation_id, rules: rulesOf(declared) } as const
      const isChanged = (await preview(organisation_id, command)).length > 0
      return [
        {
          what: 'policy rules',
          change: !isChanged ? 'none' : (await load(organisation_id)) ? 'change' : 'create',
          details: isChanged
            ? [`suspended after ${declared.suspend_after_days} days, lapsed after ${declared.lapse_after_days}`]
            : [],
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
  }
}
