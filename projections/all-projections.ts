import { legalHolds } from './legal-holds/projection.ts'
import { organisations } from './access/projection.ts'
import { recordedEvents } from './audit/projection.ts'
import { applications } from './applications/projection.ts'
import { keyDocuments, products, releases } from './catalogue/projection.ts'
import { rateTables } from './catalogue/rate-tables.ts'
import { consentHistory, customers, verificationHistory } from './customers/projection.ts'
import { dueTimes } from './due-times/projection.ts'
import { proposals } from './approvals/projection.ts'
import { recordErasures, retentionRules } from './retention/projection.ts'
import { erasures } from './erasures/projection.ts'
import { leadFeed, leadRecords, leads } from './leads/projection.ts'
import { ledger } from './ledger/projection.ts'
import { ingests } from './ingests/projection.ts'
import { heldOutcomes, outcomes } from './outcomes/projection.ts'
import { policies } from './policies/projection.ts'
import { marketSearches } from './market-quotes/projection.ts'
import { membershipEntries, memberships } from './loyalty/projection.ts'
import { pipelines } from './pipeline/projection.ts'
import { outreachMembers } from './outreach/members.ts'
import { outreachPeople } from './outreach/people.ts'
import { outreachCosts, outreachMessages } from './outreach/messages.ts'
import { outreachQueue } from './outreach/queue.ts'
import { outreachStreams } from './outreach/streams.ts'
import type { SomeProjection } from './projection.ts'
import { setUpChanges } from './set-up-changes/projection.ts'
import { messageNews } from './message-news/projection.ts'
import { paymentNews } from './payment-news/projection.ts'
import { claims } from './claims/projection.ts'
import { complaints } from './complaints/projection.ts'
import { premiums } from './premiums/projection.ts'
import { payments } from './payments/projection.ts'
import { quotes } from './quotes/projection.ts'

/** Every read model that there is. */
export const allProjections: readonly SomeProjection[] = [
  organisations,
  products,
  releases,
  keyDocuments,
  rateTables,
  setUpChanges,
  applications,
  customers,
  consentHistory,
  verificationHistory,
  quotes,
  policies,
  premiums,
  claims,
  complaints,
  marketSearches,
  leads,
  legalHolds,
  leadFeed,
  leadRecords,
  pipelines,
  outcomes,
  heldOutcomes,
  ingests,
  erasures,
  retentionRules,
  recordErasures,
  proposals,
  payments,
  ledger,
  messageNews,
  paymentNews,
  memberships,
  membershipEntries,
  outreachStreams,
  outreachMembers,
  outreachPeople,
  outreachMessages,
  outreachCosts,
  outreachQueue,
  dueTimes,
  recordedEvents,
]
