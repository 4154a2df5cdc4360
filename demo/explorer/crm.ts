import { randomBytes } from 'node:crypto'
import {
  dataOf,
  idOf,
  inOrganisation,
  listOf,
  operatorAddress,
  sendLead,
  textOf,
  until,
  type Callers,
  type Examples,
} from './requests.ts'

/** Leads of the demo organisation: one that is worked, some that wait for the team, and what was reported of them. */
export const prepareLeads = async (callers: Callers): Promise<Examples> => {
  const { api, operator } = callers
  const named = () => `explorer.${randomBytes(4).toString('hex')}`
  const send = async (lead: object) => sendLead(callers, lead)
  const known = async () => {
    const identity = { email: `${named()}@example.com`, first_name: 'Ada', last_name: 'Finch' }
    const first = await send({ identity })
    const contact_id = textOf(first, 'contact_id')
    const again = await send({ identity: { ...identity, first_name: 'Adele' } })
    await until(async () => operator('GET', `${operatorAddress}/leads/${contact_id}`).catch(() => undefined))
    return { contact_id, email: identity.email, ingest: textOf(first, 'id'), proposal: textOf(again, 'id') }
  }
  // Without a telephone number, which the rules of this campaign ask for.
  const held = async () =>
    textOf(
      await send({ campaign: 'life-spring', identity: { email: `${named()}@example.com`, match_on_details: true } }),
      'id',
    )
  // Nothing in it says whom it is about. The same content again would be the same lead.
  const inReview = async () => textOf(await send({ data: { note: named() } }), 'id')

  const [{ contact_id, email, ingest, proposal }, toAccept, toDiscard, toPick] = await Promise.all([
    known(),
    held(),
    held(),
    inReview(),
  ])
  const outcome = (about: object) => ({
    type: 'quoted',
    occurred_at: new Date().toISOString(),
    event_id: named(),
    values: { premium: 1_500 },
    ...about,
  })
  const report = async (about: object) => {
    const sent = outcome(about)
    return { id: idOf(await api('POST', '/api/v1/crm/outcomes', sent)), event_id: sent.event_id }
  }
  const ofNobody = async () => report({ lead: { email: `${named()}@example.com`, match_on_details: true } })
  const [byEvent, byId, byTeam, toMatch, toDrop, toCorrect] = await Promise.all([
    report({ contact_id }),
    report({ contact_id }),
    report({ contact_id }),
    ofNobody(),
    ofNobody(),
    ofNobody(),
  ])
  // Somebody else, who is not needed for anything any more.
  const [leaving, gone, kept] = await Promise.all([known(), known(), known()])
  const holds = `${operatorAddress}/people/${kept.contact_id}/legal_holds`
  const hold = { reason: 'A court has asked for the file.' }
  const hold_id = idOf(await operator('POST', holds, hold))
  await operator('POST', `${operatorAddress}/people/${gone.contact_id}/erasure`)
  await until(async () => operator('GET', `${operatorAddress}/erasures/${gone.contact_id}`).catch(() => undefined))
  const oneIngest = inOrganisation({ ingest_id: ingest })
  const link = dataOf(
    await operator('POST', `${operatorAddress}/people/${contact_id}/verification_links`, { detail: 'email' }),
  )
  const verification = { query: { t: new URL(textOf(link, 'url')).searchParams.get('t') ?? '' } }
  const workflows = listOf(await operator('GET', `${operatorAddress}/workflows`))
  const runnable = workflows.find(({ name }) => name === "Send this lead to the team's system")
  return {
    getCrmIngest: { path: { id: ingest } },
    getOrganisationIngests: inOrganisation(),
    getOrganisationIngest: oneIngest,
    getOrganisationIngestContent: oneIngest,
    postOrganisationIngestAccept: inOrganisation({ ingest_id: toAccept }),
    postOrganisationIngestDiscard: inOrganisation({ ingest_id: toDiscard }, { note: 'A test of ours.' }),
    postOrganisationIngestPickPerson: inOrganisation({ ingest_id: toPick }, { contact_id: null }),
    getOrganisationProposedDetails: inOrganisation(),
    postOrganisationPeopleProposedDetails: inOrganisation(
      { contact_id },
      { source_id: proposal, accept: ['first_name'] },
    ),
    getOrganisationConsentHistory: inOrganisation(),
    postOrganisationPeopleErasure: inOrganisation({ contact_id: leaving.contact_id }),
    getOrganisationPeopleErasurePreview: inOrganisation({ contact_id }),
    getOrganisationLegalHolds: inOrganisation(),
    getOrganisationRecordErasures: inOrganisation(),
    getOrganisationRetention: inOrganisation(),
    getOrganisationRetentionDue: {
      ...inOrganisation(),
      query: { kind: 'applications', period: '24 months' },
    },
    postOrganisationPeopleLegalHolds: inOrganisation({ contact_id: kept.contact_id }, hold),
    postOrganisationPeopleLegalHoldEnding: inOrganisation(
      { contact_id: kept.contact_id, hold_id },
      { reason: 'The case is closed.' },
    ),
    postAuditOrganisationPeopleSearch: inOrganisation({}, { email }),
    postOrganisationPeopleSearch: inOrganisation({}, { email }),
    getAuditOrganisationPeopleExport: inOrganisation({ person_id: contact_id }),
    getAuditOrganisationPeopleExportPdf: inOrganisation({ person_id: contact_id }),
    getOrganisationErasures: inOrganisation(),
    getOrganisationErasure: inOrganisation({ contact_id: gone.contact_id }),
    getOrganisationReadingUse: inOrganisation(),
    postOrganisationPeopleConsent: inOrganisation(
      { contact_id },
      {
        entries: [{ purpose: 'first_party_marketing', channel: 'email', state: 'withdrawn' }],
        method: 'by phone',
      },
    ),
    postOrganisationPeopleVerification: inOrganisation(
      { contact_id },
      { detail: 'email', value: email, method: 'they answered a mail' },
    ),
    postOrganisationPeopleVerificationLinks: inOrganisation({ contact_id }, { detail: 'email' }),
    getOrganisationVerificationHistory: inOrganisation(),
    getPeopleVerification: verification,
    postPeopleVerification: verification,
    getOrganisationLeads: inOrganisation(),
    getOrganisationWork: inOrganisation(),
    getOrganisationLead: inOrganisation({ contact_id }),
    getOrganisationLeadTimeline: inOrganisation({ contact_id }),
    getOrganisationLeadHistory: inOrganisation({ contact_id }),
    postOrganisationLeadActs: inOrganisation(
      { contact_id },
      {
        acts: [
          { act: 'record_activity', kind: 'call', summary: 'Wants a quote for life cover.', direction: 'outbound' },
          { act: 'move_to_stage', stage: 'contacted' },
        ],
      },
    ),
    postOrganisationWorkflowRuns: inOrganisation(
      { workflow_id: textOf(runnable, 'id') },
      { contact_id, by: 'Olive Owner' },
    ),
    postCrmOutcomes: { body: outcome({ contact_id }) },
    postCrmOutcomesReverse: { body: { event_id: byEvent.event_id } },
    postCrmOutcomeReverse: { path: { id: byId.id }, body: { note: 'Reported by mistake.' } },
    postOrganisationOutcomeReverse: inOrganisation({ outcome_id: byTeam.id }, { note: 'Reported by mistake.' }),
    getOrganisationOutcomes: inOrganisation(),
    getOrganisationLeadEvents: inOrganisation(),
    getOrganisationHeldOutcomes: inOrganisation(),
    postOrganisationHeldOutcomeMatch: inOrganisation({ outcome_id: toMatch.id }, { contact_id }),
    postOrganisationHeldOutcomeCorrect: inOrganisation(
      { outcome_id: toCorrect.id },
      { contact_id, type: 'quoted', occurred_at: new Date().toISOString() },
    ),
    postOrganisationHeldOutcomeDiscard: inOrganisation({ outcome_id: toDrop.id }, {}),
  }
}
