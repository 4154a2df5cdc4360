import { randomInt } from 'node:crypto'
import { dataOf, textOf, type Examples, type Send } from './requests.ts'

const limitPence = 1_000_000_000

/** Examples of what waits for a second user: a rule that is to ask for one less often. */
export const prepareApprovals = async (operator: Send, organisation_id: string): Promise<Examples> => {
  const address = `/admin/v1/organisations/${organisation_id}/four_eyes`
  await operator('PATCH', address, { refund_above_pence: limitPence })
  const looser = { refund_above_pence: limitPence + randomInt(1, limitPence) }
  const proposal_id = textOf(dataOf(await operator('PATCH', address, looser)), 'proposal_id')
  const path = { organisation_id }
  return {
    getOrganisationApprovals: { path },
    getOrganisationApproval: { path: { ...path, proposal_id } },
    getOrganisationApprovalChanges: { path: { ...path, proposal_id } },
    postOrganisationApprovalWithdraw: { path: { ...path, proposal_id } },
    getOrganisationFourEyes: { path },
    patchOrganisationFourEyes: { path, body: { refund_above_pence: limitPence } },
  }
}
