import { Refused } from './api.ts'
import { cover, interstitial, questions } from './capture-stages.ts'
import { checkAnswers } from './check-stage.ts'
import { beforeYouBuy, confirmation, handoff, quote } from './checkout-stages.ts'
import { personalDetails, softIdentity } from './details-stages.ts'
import { button, h, list } from './elements.ts'
import { marketQuotes } from './market-stage.ts'
import { partnerDetails } from './partner-stage.ts'
import { payment } from './payment-stage.ts'
import { changeStage, type Made, type MakeScreen, type Visit } from './visit.ts'

/** The types of stages that this page shows; a firm's own page has those that its journeys use. */
export const stages: Readonly<Record<string, MakeScreen>> = {
  soft_identity: softIdentity,
  interstitial,
  cover_capture: cover,
  questions,
  personal_details: personalDetails,
  partner_details: partnerDetails,
  check_answers: checkAnswers,
  market_quotes: marketQuotes,
  quote,
  before_you_buy: beforeYouBuy,
  payment,
  confirmation,
  handoff,
}

/** The screen where a price cannot be given, with a way back. */
export const unquotable = (error: unknown, visit: Visit): Made => {
  if (!(error instanceof Refused) || error.code === 'rate_limited') throw error
  return {
    title: 'We cannot show a price yet',
    body: [
      h('p', {}, error.message),
      list(Object.values(error.fields)),
      h(
        'div',
        { class: 'choices' },
        button('Change my cover', () => changeStage(visit, 'cover_capture')),
        button('Change my details', () => changeStage(visit, 'personal_details')),
      ),
    ],
  }
}
