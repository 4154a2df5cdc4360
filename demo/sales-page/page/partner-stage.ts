import { choice, h } from './elements.ts'
import { customerOf, detailFields, namesOf } from './details-stages.ts'
import { isAsked, questionFields, readAnswers } from './questions.ts'
import type { Question } from './records.ts'
import { unitsOf } from './units.ts'
import { allIn, faultsIn, patch, refuse, type MakeScreen } from './visit.ts'

type PartnerConfig = {
  readonly fields?: readonly string[]
  readonly required_fields?: readonly string[]
  readonly same_address?: boolean
  /** The questions about a person; what is asked once for both is not among them. */
  readonly question_keys: readonly string[]
  /** The answer for which there is a second person; null: there always is. */
  readonly ask_if: Question['ask_if'] | null
}

/** The second person of joint cover: who they are, and their own answers to the questions about a person. */
export const partnerDetails: MakeScreen = (visit, { title, cta_label, config }) => {
  const { fields = [], required_fields = [], same_address, question_keys, ask_if } = config as PartnerConfig
  const { customer, joint_customer, risk_factors } = visit.application
  if (ask_if && !isAsked({ ask_if }, risk_factors)) return undefined
  const asked = visit.questions.filter(({ key }) => question_keys.includes(key))
  // Their answers are kept apart, and the service never shows them again: what this tab does not know is given again.
  const forBoth = Object.fromEntries(Object.entries(risk_factors).filter(([key]) => !question_keys.includes(key)))
  const known = { ...visit.application, risk_factors: { ...forBoth, ...visit.partnerAnswers } }
  const lives = { address_line1: customer?.address_line1, city: customer?.city, postal_code: customer?.postal_code }
  return {
    title,
    body: [
      h('p', {}, 'Who is the second person? Please answer for them, or ask them to.'),
      ...detailFields({ fields, required_fields }, joint_customer, { isVisitor: false }),
      same_address === true &&
        choice(
          { name: 'lives', label: 'Where do they live?' },
          [{ value: 'same', label: 'At the same address as you' }],
          { type: 'checkbox', chosen: ['same'] },
        ),
      questionFields(asked, known, unitsOf(visit.stages)),
    ],
    submit: {
      label: cta_label ?? 'Next',
      send: async (given) => {
        const { sent: answers, missing } = readAnswers(asked, known, given)
        refuse({ ...faultsIn(given, namesOf(required_fields)), ...missing })
        const isSame = allIn(given, 'lives').includes('same')
        const partner = { ...(isSame && lives), ...customerOf(given) }
        const application = await patch(visit, '/partner', { partner, answers })
        const partnerAnswers = Object.fromEntries(
          Object.entries(answers).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
        )
        visit.next({ application, partnerAnswers })
      },
    },
  }
}
