import { randomBytes } from 'node:crypto'
import { idOf, inOrganisation, listOf, operatorAddress, textOf, type Callers, type Examples } from './requests.ts'

/** Members of the demo organisation's loyalty programme. */
export const prepareMembers = async ({ api, operator }: Callers): Promise<Examples> => {
  const [programme] = listOf(await operator('GET', `${operatorAddress}/programmes`))
  const programme_id = textOf(programme, 'id')
  const added = randomBytes(4).toString('hex')
  const enrolment = (name: string) => ({ policy_number: `EXPLORER-${added}-${name}` })
  const enrol = async (name: string) =>
    idOf(await operator('POST', `${operatorAddress}/programmes/${programme_id}/memberships`, enrolment(name)))
  const confirmed = async (name: string) => {
    const external_member_ref = `explorer-${added}-${name}`
    const change = { external_member_ref, status: 'active' }
    await api('PATCH', `/api/v1/programme_memberships/${await enrol(name)}`, change)
    return external_member_ref
  }
  const [toConfirm, toConfirmByPut, toRead, active] = await Promise.all([
    enrol('1'),
    enrol('2'),
    enrol('3'),
    confirmed('4'),
  ])
  const confirmation = (name: string) => ({ external_member_ref: `explorer-${added}-${name}`, status: 'active' })
  return {
    getProgrammeMembership: { path: { external_ref: active } },
    patchProgrammeMembership: { path: { external_ref: toConfirm }, body: confirmation('1') },
    putProgrammeMembership: { path: { external_ref: toConfirmByPut }, body: confirmation('2') },
    postProgrammeMembershipEvents: {
      path: { external_ref: active },
      body: {
        events: [
          { idempotency_key: `walk-${added}`, entry_type: 'points_awarded', points: 250 },
          { idempotency_key: `tier-${added}`, entry_type: 'tier_asserted', tier_key: 'silver' },
        ],
      },
    },
    getOrganisationMemberships: inOrganisation(),
    getOrganisationMembershipEvents: inOrganisation({ id: toRead }),
    getOrganisationProgrammes: inOrganisation(),
    postOrganisationProgrammeMemberships: inOrganisation({ programme_id }, enrolment('5')),
  }
}
