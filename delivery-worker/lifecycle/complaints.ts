import type { Complaint } from '#domain/complaints/record.ts'
import type { EventOf, Json } from '#domain/event.ts'
import { idOf } from '#domain/event.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind } from '../capability.ts'
import { peopleShown, readDocuments } from '../sending/snapshot.ts'
import { applicationSnapshot, readApplications } from './applications.ts'
import { policySnapshot } from './policies.ts'

const { events: sent, names } = lifecycle.complaint

type Facts = Pick<Complaint, 'product_id'> & { readonly complaint_id: string }

/** Nothing that somebody has written is sent: neither what the complaint says nor why it was decided so. */
const payloadOf = (event: EventOf<typeof sent>): Json => {
  switch (event.type) {
    case 'ComplaintOpened': {
      const { contact_id, policy_id, application_id, claim_id, cause, received_at, respond_by } = event
      return { contact_id, policy_id, application_id, claim_id, cause, received_at, respond_by }
    }
    case 'ComplaintDecided': {
      const { decision, response, decided_at, refer_by } = event
      return { decision, response, decided_at, refer_by }
    }
    case 'ComplaintRedressed':
      return { redress_id: event.redress_id, amount_pence: event.amount_pence }
    case 'ComplaintReferred':
      return { referred_on: event.referred_on }
    case 'ComplaintClosed':
      return { withdrawn: event.withdrawn, keep_until: event.keep_until }
  }
}

/** Complaints, with the policy or the application that they concern, if any. */
export const complaints = subjectKind<typeof sent, Facts>({
  type: 'complaint',
  categories: ['complaint'],
  events: sent,
  // The application is waited for by the next attempt, should a complaint about it have come at once.
  readModels: ['complaints', 'policies'],
  idOf: (_event, { stream }) => idOf(stream),
  remember: (facts, event) =>
    event.type === 'ComplaintOpened' ? { product_id: event.product_id, complaint_id: event.complaint_id } : facts,
  people: peopleShown,
  happening: (event, { complaint_id }) => ({
    type: names[event.type],
    payload: { complaint_id, ...payloadOf(event) },
  }),
  readSnapshots: async (pool, subjects) => {
    const complaintOf = await readDocuments<Complaint>(pool, 'complaints', subjects)
    const concerned = (field: 'policy_id' | 'application_id') =>
      subjects.flatMap(({ organisation_id, id: complaint_id }) => {
        const id = complaintOf(complaint_id)?.[field]
        return id ? [{ organisation_id, id }] : []
      })
    const [policyOf, applicationOf] = await Promise.all([
      readDocuments<PolicyRecord>(pool, 'policies', concerned('policy_id')),
      readApplications(pool, concerned('application_id')),
    ])
    return (id) => {
      const complaint = complaintOf(id)
      if (!complaint) return undefined
      const { policy_id, application_id } = complaint
      if (policy_id !== null) {
        const policy = policyOf(policy_id)
        return policy && policySnapshot(policy)
      }
      if (application_id === null) return {}
      const application = applicationOf(application_id)
      return application && applicationSnapshot(application)
    }
  },
})
