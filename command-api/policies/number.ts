import { createHash } from 'node:crypto'
import { policyNumber, policyNumberOf } from '#domain/policies/number.ts'
import { Rejection } from '#domain/rejection.ts'
import type { OrganisationId, PolicyId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

/** With ten million policies in an organisation one number in ten is taken: twenty in a row are not. */
const attempts = 20

export type ClaimNumber = (
  policy: { readonly organisation_id: OrganisationId; readonly policy_id: PolicyId; readonly prefix: string },
  context: Context,
) => Promise<string>

/** Eight digits that follow from the policy, and at each attempt others: they tell nobody how much a firm sells. */
const digitsOf = (policy_id: PolicyId, attempt: number): string => {
  const hash = createHash('sha256').update(`${policy_id} ${attempt}`).digest()
  return String(hash.readUInt32BE(0) % 100_000_000).padStart(8, '0')
}

/** A number that no other policy of the organisation has. Asked again for the same policy, it gives the same. */
export const makeClaimNumber = (writer: Writer): ClaimNumber => {
  const { handle } = commandHandler(writer, policyNumber)

  return async ({ organisation_id, policy_id, prefix }, context) => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const digits = digitsOf(policy_id, attempt)
      const policy_number = policyNumberOf(prefix, digits)
      const command = { type: 'ClaimPolicyNumber', organisation_id, policy_number, policy_id } as const
      try {
        await handle(derivedId('policy_number', organisation_id, digits), command, context)
        return policy_number
      } catch (error) {
        if (!(error instanceof Rejection)) throw error
      }
    }
    throw new Rejection('bind_failed', 'No policy number is free. Send the request again, and tell the operator.')
  }
}
