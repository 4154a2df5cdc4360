import { correct, discard, match } from './held.ts'
import { receive, report, settle } from './report.ts'
import { outcomeStreams, type OutcomesDeps } from './outcome-streams.ts'
import { reverse, reverseByEventId } from './reverse.ts'

/** Reporting, matching and reversing outcomes, whoever does it. */
export const makeOutcomes = (deps: OutcomesDeps) => {
  const streams = outcomeStreams(deps)
  return {
    report: report(streams),
    receive: receive(streams),
    settle: settle(streams),
    correct: correct(streams),
    match: match(streams),
    discard: discard(streams),
    reverse: reverse(streams),
    reverseByEventId: reverseByEventId(streams),
  }
}
