import { z } from 'zod'
import { CollectionRules, PolicyRules, type PolicyRules as Rules } from '#domain/policy-rules/events.ts'
import { policyRules } from '#domain/policy-rules/policy-rules.ts'
import { defaultPolicyRules } from '#domain/policy-rules/record.ts'
import { withoutUnseen } from '#domain/invisible-characters.ts'
import { EmailAddress } from '../email-address.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { reportUnlessOne, type SetupSection, type Whole } from '../setup-file/section.ts'

const line = (most: number) => z.string().overwrite(withoutUnseen).min(1).max(most).nullable().optional()

const DeclaredContact = z.strictObject({
  address: line(300),
  phone: line(50),
  email: EmailAddress.nullable().optional(),
})

const DeclaredRules = z.strictObject({
  ...CollectionRules.partial().shape,
  rpi: PolicyRules.shape.rpi.optional(),
  rpi_cap_percent: PolicyRules.shape.rpi_cap_percent.optional(),
  contact: DeclaredContact.optional(),
})
type DeclaredRules = z.output<typeof DeclaredRules>

/** Rules that the file leaves out stay as they are. */
const rulesOf = ({ rpi, rpi_cap_percent, contact, ...collection_rules }: DeclaredRules, before: Rules): Rules =>
  PolicyRules.parse({
    collection_rules: { ...before.collection_rules, ...collection_rules },
    contact: { ...before.contact, ...contact },
    rpi: rpi ?? before.rpi,
    rpi_cap_percent: rpi_cap_percent ?? before.rpi_cap_percent,
  })

/** An organisation's rules for its policies: the consequences of unpaid premiums, and the figures of indexation. */
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
      const before = await load(organisation_id)
      const rules = rulesOf(declared, before ?? defaultPolicyRules)
      const { lapse_after_days, suspend_after_days } = rules.collection_rules
      if (lapse_after_days <= suspend_after_days)
        report([0, 'lapse_after_days'], 'must be more than suspend_after_days')
      for (const [index, { year }] of rules.rpi.entries())
        if (rules.rpi.findIndex((figure) => figure.year === year) !== index)
          report([0, 'rpi', index, 'year'], 'has its figure already')

      const command = { type: 'DeclarePolicyRules', organisation_id, rules } as const
      const isChanged = (await preview(organisation_id, command)).length > 0
      return [
        {
          what: 'policy rules',
          change: !isChanged ? 'none' : before ? 'change' : 'create',
          details: isChanged ? [`suspended after ${suspend_after_days} days, lapsed after ${lapse_after_days}`] : [],
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const rules = await load(organisation_id)
      return rules && [writtenAs(rules)]
    },
  }
}

const writtenAs = ({ collection_rules, ...rules }: Rules): Whole<z.input<typeof DeclaredRules>> => ({
  ...collection_rules,
  ...rules,
})
