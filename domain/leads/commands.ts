import type { Pipeline } from '../pipeline/events.ts'
import type { ApiApplicationId, CustomerId, OrganisationId } from '../values.ts'
import type {
  ActivityKind,
  CampaignRef,
  Facts,
  LeadActor,
  LeadEvent,
  LeadStatus,
  Marks,
  NextAction,
  TpsStatus,
  TpsTrouble,
} from './events.ts'

type Data<Type extends LeadEvent['type']> = Extract<LeadEvent, { type: Type }>

/** A person was sent in: they become a lead, or are one already. */
export type ReceiveLead = {
  readonly type: 'ReceiveLead'
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly api_application_id: ApiApplicationId | null
  readonly source: string
  readonly source_reference: string | null
  readonly ingest_id: string | null
  readonly external_system_id: string | null
  /** Tells one arrival from another where a returning person leaves an activity. */
  readonly activity_id: string
  /** The returning person's act, in words. */
  readonly summary: string
  readonly happened_at: string
}

/** Facts are stored over those held, or held apart as proposals where they differ. */
export type RecordFacts = {
  readonly type: 'RecordFacts'
  readonly facts: Facts
  readonly ingest_id: string | null
  readonly mode: 'store' | 'propose'
}

export type RecordActivity = {
  readonly type: 'RecordActivity'
  readonly activity_id: string
  readonly kind: ActivityKind
  readonly summary: string
  readonly channel?: Data<'LeadActivityRecorded'>['channel']
  readonly direction?: Data<'LeadActivityRecorded'>['direction']
  readonly related?: Data<'LeadActivityRecorded'>['related']
  readonly happened_at: string
}

export type WorkLead =
  | { readonly type: 'MoveToStage'; readonly stage: string }
  | { readonly type: 'ChangeStatus'; readonly status: LeadStatus; readonly reason: string | null }
  | {
      readonly type: 'AssignOwner'
      readonly owner_id: string | null
      /** The owner that whoever assigns has seen; undefined: whoever it is. */
      readonly seen_owner_id?: string | null | undefined
    }
  | { readonly type: 'SetOutcomeReason'; readonly reason: string | null; readonly note: string | null }
  | { readonly type: 'FlagVulnerability'; readonly flagged: boolean; readonly details: string | null }
  | { readonly type: 'SetNextAction'; readonly next_action: NextAction | null }
  | {
      readonly type: 'AddTask'
      readonly task_id: string
      readonly title: string
      readonly due_at: string | null
      /** Nobody waits for the answer: where there is no room for it, it is not added. */
      readonly mayBeLeftOut?: true
    }
  | { readonly type: 'CompleteTask'; readonly task_id: string }
  | { readonly type: 'Snooze'; readonly until: string }
  | { readonly type: 'EndSnooze' }
  | { readonly type: 'Mark'; readonly marks: Partial<Marks> }
  | { readonly type: 'SettleProposals'; readonly accept: readonly string[]; readonly dismiss: readonly string[] }
  | { readonly type: 'RunWorkflow'; readonly run_id: string; readonly workflow_id: string }
  | { readonly type: 'RecordDetailsChange'; readonly changed: readonly string[] }
  | {
      readonly type: 'RecordTps'
      readonly status: TpsStatus
      readonly phone_number: string | null
      readonly screened_at: string
      readonly expires_at: string
      /** The plan that it carries out; when another has taken its place meanwhile, it changes nothing. */
      readonly planned_at: string
    }
  /** The number could not be screened: it is tried again then; null: nobody screens for the organisation any more. */
  | {
      readonly type: 'DeferTps'
      readonly planned_at: string
      readonly retry_at: string | null
      readonly trouble: TpsTrouble | null
    }

/** The lead's result elsewhere: an outcome, a policy. */
export type FollowOutcome = {
  readonly type: 'FollowOutcome'
  readonly status: LeadStatus | null
  readonly stage: string | null
  readonly reason: string | null
  /** Given: only a lead of this status follows. */
  readonly from?: LeadStatus
}

/** Acts of timers; without effect when the time has not come or it is settled. */
export type FallDue =
  | { readonly type: 'NextActionDue' }
  | {
      readonly type: 'FirstContactDue'
      /** The time at which the missed deadline was noticed. */
      readonly noticed_at: string
    }
  | { readonly type: 'SnoozeOver' }
  | { readonly type: 'GoDormant' }

export type OneLeadCommand = ReceiveLead | RecordFacts | RecordActivity | WorkLead | FollowOutcome | FallDue

/** Several acts in one append, each decided on what the ones before have made of the lead. */
export type LeadCommand = {
  readonly type: 'Lead'
  readonly acts: readonly OneLeadCommand[]
  readonly by: LeadActor
  /** Business time, ISO 8601. */
  readonly now: string
  readonly pipeline: Pipeline
  /** Somebody screens telephone numbers for the organisation. */
  readonly screens_tps?: boolean
  /** Of the ingest that causes it; left out: the lead's first. */
  readonly campaign?: CampaignRef | null
}

/** Context for deciding every act. */
export type Circumstances = Omit<LeadCommand, 'type' | 'acts'>
