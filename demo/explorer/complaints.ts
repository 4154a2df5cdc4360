import {
  demoOrganisation,
  idOf,
  inOrganisation,
  listOf,
  operatorAddress,
  textOf,
  until,
  type Callers,
  type Examples,
} from './requests.ts'

/** A complaint to decide, and one that is decided already. */
export const prepareComplaints = async ({ operator }: Callers): Promise<Examples> => {
  const policies = `/admin/v1/policies?organisation_id=${demoOrganisation}&limit=1`
  const policy = await until(async () => listOf(await operator('GET', policies))[0])
  const complaint = {
    contact_id: idOf({ data: policy['customer'] }),
    policy_id: textOf(policy, 'id'),
    cause: 'administration_and_service',
    description: 'Nobody has called back for a week.',
  }
  const decision = { decision: 'upheld', reason: 'The call was forgotten.' }
  const open = async () => ({ id: idOf(await operator('POST', `${operatorAddress}/complaints`, complaint)) })
  const [undecided, decided] = await Promise.all([open(), open()])
  await operator('POST', `${operatorAddress}/complaints/${decided.id}/decisions`, decision)
  return {
    getOrganisationComplaints: inOrganisation(),
    postOrganisationComplaints: inOrganisation({}, complaint),
    getOrganisationComplaint: inOrganisation(undecided),
    postOrganisationComplaintNotes: inOrganisation(undecided, { note: 'Called back.' }),
    postOrganisationComplaintDecisions: inOrganisation(undecided, decision),
    postOrganisationComplaintRedress: inOrganisation(decided, { amount_pence: 5_000, action: 'A letter of apology.' }),
    postOrganisationComplaintReferral: inOrganisation(decided, {
      referred_on: new Date().toISOString().slice(0, 10),
      reference: 'PNX-1234567-A1B2',
    }),
    postOrganisationComplaintClosing: inOrganisation(decided),
  }
}
