import { daysAfter } from '../dates.ts'
import { isSameJson } from '../canonical-json.ts'
import type { Release } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import { CustomerDetails } from '../customers/events.ts'
import { ageLastBirthday } from '../rating/age.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId } from '../values.ts'
import { terminalOf } from './answers.ts'
import { endedBy } from './endings.ts'
import type { ApplicationEvent, CallerKind } from './events.ts'
import { changePartnerAnswers } from './joint.ts'
import { withOutdatedAcceptance } from './outdated-acceptance.ts'
import { latestStartDays, withdrawn } from './quote.ts'
import { isJoint, journeyOfApplication, partnerIdOf, type ApplicationStreamEvent } from './record.ts'
import { refuseClosed, refuseInputs } from './refusals.ts'
import { changesPerson, mergedDetails, refuseDetails, type CustomerGiven } from './save-customer.ts'
import { partnerAnswersSaved } from './save.ts'
import type { ApplicationState } from './state.ts'

export type SavePartner = {
  readonly type: 'SavePartner'
  readonly caller: CallerKind
  readonly release: Release
  readonly partner: CustomerGiven
  /** The id that the second person gets who is named by no email address, and was not saved before. */
  readonly new_person_id: CustomerId
  readonly answers: Readonly<Record<string, unknown>> | undefined
  /** The date now, where the organisation is, `YYYY-MM-DD`. */
  readonly today: string
  readonly now: string
}

/** The second person of joint cover, with their own answers. */
export const savePartner = (command: SavePartner, state: ApplicationState): readonly ApplicationStreamEvent[] => {
  const { record, partner_answers } = state
  refuseClosed(record)
  const { release, answers = {}, today, now } = command
  if (!isJoint(release.joint, record.risk_factors))
    throw new Rejection(
      'not_joint_basis',
      'This application is for one person. Save the answer that makes it joint first, or leave the second person out.',
    )
  const journey = journeyOfApplication(release, record)
  const both = { first: record.risk_factors, partner: partner_answers }
  const answered = changePartnerAnswers(journey.questions, lifeKeysOf(release, journey), both, answers, today)
  refuseInputs('validation_failed', answered.fields)

  const partner = partnerSaved(command, state)
  const events: readonly ApplicationEvent[] = [
    ...(changesAnything(partner, command.partner, state) ? [partner] : []),
    ...partnerAnswersSaved(answered.change, partner.customer_id),
  ]
  const terminal = terminalOf(journey.questions, partner_answers, answered.change.saved)
  return terminal
    ? [...events, ...withdrawn(state, 'application_closed', now), endedBy('answer', terminal.outcome, terminal)]
    : withOutdatedAcceptance(state, events)
}

type PartnerSaved = Extract<ApplicationEvent, { type: 'PartnerSaved' }>

const neededOfPartner = ['first_name', 'last_name', 'dob'] as const

const partnerSaved = (command: SavePartner, { record, open_to_visitors }: ApplicationState): PartnerSaved => {
  const { partner: given, caller, release, new_person_id, today } = command
  const held = record.partner
  const { merged, refused } = mergedDetails(given, held, {
    needed: neededOfPartner,
    isShown: caller === 'server' && !open_to_visitors,
  })
  const reasons: Record<string, string> = { ...refused }
  if (merged.email !== null && merged.email === record.customer?.email)
    reasons['email'] = 'must not be that of the first person'
  if (merged.dob !== null && !reasons['dob'] && isOutsideEveryCover(release, merged.dob, today))
    reasons['dob'] = 'is outside the ages at which any of the covers can start'
  refuseDetails('partner', reasons)
  return {
    type: 'PartnerSaved',
    customer_id: given.customer_id ?? partnerIdOf(record) ?? new_person_id,
    partner: CustomerDetails.parse({ ...merged, country: merged.country ?? 'GB' }),
    sent: given.details,
    by: caller,
    joint: release.joint,
  }
}

/** Cover may start on any day from today to the latest start date: the age then is looked at when it is quoted. */
const isOutsideEveryCover = ({ covers }: Release, dob: string, today: string): boolean => {
  const youngest = ageLastBirthday(dob, today)
  const oldest = ageLastBirthday(dob, daysAfter(today, latestStartDays))
  const forBoth = covers.filter(({ pricing_basis }) => pricing_basis === 'rated')
  return (
    forBoth.length > 0 &&
    forBoth.every(({ age_at_entry_min, age_at_entry_max }) => oldest < age_at_entry_min || youngest > age_at_entry_max)
  )
}

/** Something follows from the details: for the application, or for the person's own record. */
const changesAnything = (
  saved: PartnerSaved,
  given: CustomerGiven,
  { record, partner_saved_at }: ApplicationState,
): boolean =>
  !isSameJson({ id: saved.customer_id, ...saved.partner }, record.partner) || changesPerson(given, partner_saved_at)
