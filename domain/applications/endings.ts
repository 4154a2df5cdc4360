import type { TerminalOutcome } from '../catalogue/events.ts'
import type { ApplicationEvent } from './events.ts'

type Reason = { readonly reason_code: string | null; readonly reason_message: string | null }

/** The event where an answer, or underwriting, ends an application or passes it to the team. */
export const endedBy = (
  cause: 'answer' | 'underwriting',
  outcome: TerminalOutcome,
  { reason_code, reason_message }: Reason,
): ApplicationEvent => {
  const why = { cause, reason_code, reason_message }
  switch (outcome) {
    case 'decline':
      return { type: 'ApplicationDeclined', ...why }
    case 'postpone':
      return { type: 'ApplicationPostponed', ...why, until: null }
    case 'refer':
      return { type: 'ApplicationReferred', ...why }
  }
}
