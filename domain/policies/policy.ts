import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import { policyEvents, type PolicyEvent } from './events.ts'
import { evolvePolicy, type PolicyRecord } from './record.ts'
import {
  activatePolicy,
  cancelPolicy,
  expirePolicy,
  recordPolicyUpdate,
  type ActivatePolicy,
  type CancelPolicy,
  type ExpirePolicy,
  type RecordPolicyUpdate,
} from './life.ts'
import * as mandates from './mandate.ts'
import { setUpPolicy, type SetUpPolicy } from './set-up.ts'

type IssuedDocument = Omit<Extract<PolicyEvent, { type: 'PolicyDocumentIssued' }>, 'type'>

export type IssueDocuments = { readonly type: 'IssueDocuments'; readonly documents: readonly IssuedDocument[] }

export type PolicyCommand =
  | SetUpPolicy
  | IssueDocuments
  | ActivatePolicy
  | CancelPolicy
  | ExpirePolicy
  | mandates.RecordMandate
  | mandates.ChangeMandate
  | mandates.RecordMandateFailure
  | mandates.RequestMandate
  | RecordPolicyUpdate

export const unknownPolicy = () => new Rejection('not_found', 'There is no policy with this id. Check the address.')

const decide = (command: PolicyCommand, state: PolicyRecord | undefined): readonly PolicyEvent[] => {
  // The sale was decided once, on the application's stream: whoever comes second has nothing to add.
  if (command.type === 'SetUpPolicy') return state ? [] : setUpPolicy(command)
  if (command.type === 'RecordPolicyUpdate') return recordPolicyUpdate(command, state)
  if (!state) throw unknownPolicy()
  switch (command.type) {
    case 'IssueDocuments':
      return issueDocuments(command, state)
    case 'ActivatePolicy':
      return activatePolicy(command, state)
    case 'CancelPolicy':
      return cancelPolicy(command, state)
    case 'ExpirePolicy':
      return expirePolicy(command, state)
    case 'RecordMandate':
      return mandates.recordMandate(command, state)
    case 'ChangeMandate':
      return mandates.changeMandate(command, state)
    case 'RecordMandateFailure':
      return mandates.recordMandateFailure(command, state)
    case 'RequestMandate':
      return mandates.requestMandate(state)
  }
}

const issueDocuments = ({ documents }: IssueDocuments, policy: PolicyRecord): readonly PolicyEvent[] =>
  documents
    .filter(({ version_id }) => !policy.documents.some((issued) => issued.version_id === version_id))
    .map((document) => ({ type: 'PolicyDocumentIssued', ...document }))

export const policy: Decider<PolicyCommand, typeof policyEvents, PolicyRecord | undefined> = {
  category: 'policy',
  events: policyEvents,
  initialState: undefined,
  decide,
  evolve: evolvePolicy,
}
