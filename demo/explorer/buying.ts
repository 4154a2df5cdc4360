import { randomBytes } from 'node:crypto'
import { nothingToDeclare } from '../answers.ts'
import {
  dataOf,
  demoOrganisation,
  idOf,
  inDemo,
  listOf,
  operatorAddress,
  textOf,
  until,
  type Callers,
  type Example,
  type Examples,
  type Send,
} from './requests.ts'

const answers = nothingToDeclare

const directDebit = { account_holder_name: 'Grace Okafor', sort_code: '20-00-00', account_number: '55779911' }

/** The customer's entries on the provider's own form, which the stand-in of `npm start` makes for them. */
const providersForm = async (operator: Send) => {
  const [account] = listOf(await operator('GET', `${operatorAddress}/payment_accounts`))
  const provider = textOf(account, 'base_url')
  return async (path: string, form: Readonly<Record<string, string>>): Promise<void> => {
    const sent = { method: 'POST', body: new URLSearchParams(form), signal: AbortSignal.timeout(3_000) }
    const response = await fetch(`${provider}/stand-in/${path}`, sent)
    if (!response.ok) throw new Error(`The stand-in answered ${path} with ${response.status}: ${await response.text()}`)
  }
}

const customer = () => ({
  first_name: 'Grace',
  last_name: 'Okafor',
  email: `explorer.${randomBytes(4).toString('hex')}@example.com`,
  dob: '1992-03-10',
  address_line1: '10 Downing Street',
  city: 'London',
  postal_code: 'SW1A 1AA',
})

const steps = (api: Send) => {
  const start = async (product_slug: string, more: object = {}) =>
    idOf(await api('POST', '/api/v1/applications', { product_slug, journey_slug: 'standard', ...more }))
  const complete = async (product: string, cover: object, given: object = answers) => {
    const id = await start(product, { customer: customer() })
    await api('PATCH', `/api/v1/applications/${id}`, { answers: given, ...cover })
    return id
  }
  const lifeCover = { cover_amount_pence: 25_000_000, term_years: 25 }
  const priced = async (id: string) => ({ id, quote: idOf(await api('POST', `/api/v1/applications/${id}/quotes`)) })
  const accepted = async (id: string) => {
    const { quote } = await priced(id)
    await api('POST', `/api/v1/applications/${id}/accept_quote`, { quote_id: quote })
    return quote
  }
  const ready = async (given?: object) => complete('term-life', lifeCover, given)
  const withBankDetails = async () => {
    const quote = await accepted(await ready())
    await api('POST', `/api/v1/quotes/${quote}/direct_debit_details`, { direct_debit: directDebit })
    return quote
  }
  const bindable = async () => {
    const quote = await withBankDetails()
    await api('POST', `/api/v1/quotes/${quote}/confirm`)
    return quote
  }
  const bound = async () => dataOf(await api('POST', `/api/v1/quotes/${await bindable()}/bind`))
  return { start, complete, lifeCover, priced, accepted, ready, withBankDetails, bindable, bound }
}

const demoQuery = `organisation_id=${demoOrganisation}`

const ofId = (id: string, body?: object): Example => ({ path: { id }, ...(body && { body }) })

/** Applications and quotes of the demo organisation, each as far as the operations that follow need it. */
export const prepareApplications = async ({ api }: Callers): Promise<Examples> => {
  const { start, complete, lifeCover, priced, accepted, ready, withBankDetails, bindable } = steps(api)
  const referred = async () => ready({ ...answers, blood_pressure: 'uncontrolled' })
  const [started, guided, toPrice, joint, quoted, toReject, toPay, toConfirm, toBind, toDecide, toSearch] =
    await Promise.all([
      start('term-life'),
      start('term-life', { presentation_slug: 'guided' }),
      ready(),
      start('joint-term-life'),
      priced(await ready()),
      priced(await ready()),
      accepted(await ready()),
      withBankDetails(),
      bindable(),
      referred(),
      complete('market-term', lifeCover, { smoker: 'no' }),
    ])
  const own = { first_name: 'Grace', last_name: 'Okafor', email: customer().email, dob: '1992-03-10' }
  const product_id = idOf(await api('GET', '/api/v1/products/term-life'))
  return {
    getApplication: ofId(quoted.id),
    patchApplication: ofId(started),
    patchApplicationCustomer: ofId(started, { customer: own }),
    patchApplicationSoftCustomer: ofId(started),
    patchApplicationInterstitialChoice: ofId(guided),
    patchApplicationPartner: ofId(joint, {
      partner: { first_name: 'Sam', last_name: 'Okafor', dob: '1990-07-21' },
      answers: { ...answers, smoker: 'yes', nicotine_products: ['vape'] },
    }),
    postApplicationQuotes: ofId(toPrice, {}),
    getApplicationQuotes: ofId(quoted.id),
    postApplicationAcceptQuote: ofId(quoted.id, { quote_id: quoted.quote }),
    postQuoteReject: ofId(toReject.quote, { reason: 'Dearer than I had thought.' }),
    getQuote: ofId(quoted.quote),
    getQuoteBeforeYouBuy: ofId(quoted.quote),
    postQuoteDirectDebitDetails: ofId(toPay, { direct_debit: directDebit }),
    postQuoteConfirm: ofId(toConfirm),
    postQuoteBind: ofId(toBind, { collection_day: 7 }),
    getTeamApplications: { query: { organisation_id: demoOrganisation, status: 'referred' } },
    getTeamApplication: { path: { id: toDecide }, query: { organisation_id: demoOrganisation } },
    getTeamApplicationTimeline: { path: { id: toDecide }, query: { organisation_id: demoOrganisation } },
    getQuotes: inDemo,
    getQuoteEvidence: { path: { id: quoted.quote }, ...inDemo },
    getQuoteRecord: { path: { id: quoted.quote }, ...inDemo },
    getOrganisationApplicationQuoteExplanation: {
      path: { organisation_id: demoOrganisation, id: quoted.id, quote_id: quoted.quote },
    },
    getAuditOrganisationProductOnSale: { path: { organisation_id: demoOrganisation, product_id } },
    getAuditOrganisationQuotePrice: { path: { organisation_id: demoOrganisation, quote_id: quoted.quote } },
    postTeamApplicationDecisions: ofId(toDecide, { decision: 'accept' }),
    postApplicationMarketQuotes: ofId(toSearch),
    getMarketSearches: inDemo,
  }
}

/** Quotes whose first premium is paid by card, on the payment provider's own form. */
const cardSteps = async ({ api, operator }: Callers) => {
  const { complete, accepted } = steps(api)
  const onProvidersForm = await providersForm(operator)
  const acceptedByCard = async () => accepted(await complete('child-cover', { cover_amount_pence: 2_000_000 }, {}))
  const paid = async () => {
    const quote = await acceptedByCard()
    const opened = dataOf(await api('POST', `/api/v1/quotes/${quote}/payment_intent`))
    const payment_intent_id = idOf({ data: opened['payment_intent'] })
    await onProvidersForm(`payment_intents/${payment_intent_id}/confirm`, { payment_method: 'pm_card_visa' })
    return { quote, payment_intent_id }
  }
  return { onProvidersForm, acceptedByCard, paid }
}

const because = { reason: 'Agreed by telephone.' }
const paidOtherwise = { how: 'paid_otherwise', reason: 'Bank transfer to the new account.' }

/** Payments made on the payment provider's own forms. */
export const preparePayments = async ({ api, operator }: Callers): Promise<Examples> => {
  const { accepted, ready } = steps(api)
  const { onProvidersForm, acceptedByCard, paid } = await cardSteps({ api, operator })
  const withSession = async () => {
    const quote = await accepted(await ready())
    const opened = dataOf(await api('POST', `/api/v1/quotes/${quote}/bacs_setup_intent`))
    const session_id = idOf({ data: opened['session'] })
    const account = { sort_code: '108800', account_number: '00012345' }
    await onProvidersForm(`checkout/sessions/${session_id}/complete`, account)
    return { quote, session_id }
  }
  const [toSetUp, session, toPay, payment] = await Promise.all([
    ready().then(accepted),
    withSession(),
    acceptedByCard(),
    paid(),
  ])
  const recorded = await until(
    async () => listOf(await operator('GET', `${operatorAddress}/payments?kind=card_payment&limit=1`))[0],
  )
  const ofRecorded: Example = {
    path: {
      organisation_id: demoOrganisation,
      id: textOf(recorded, 'application_id'),
      payment_id: textOf(recorded, 'id'),
    },
  }
  return {
    postQuoteBacsSetupIntent: ofId(toSetUp),
    postQuoteBacsMandate: ofId(session.quote, { session_id: session.session_id }),
    postQuotePaymentIntent: ofId(toPay),
    postQuoteCardPayment: ofId(payment.quote, { payment_intent_id: payment.payment_intent_id }),
    getOrganisationPayments: { path: { organisation_id: demoOrganisation } },
    getOrganisationLedgerAccounts: { path: { organisation_id: demoOrganisation } },
    getOrganisationLedgerEntries: { path: { organisation_id: demoOrganisation } },
    getOrganisationLedgerTrialBalance: { path: { organisation_id: demoOrganisation } },
    getOrganisationPaymentNews: { path: { organisation_id: demoOrganisation } },
    getOrganisationPayment: { path: { organisation_id: demoOrganisation, id: textOf(recorded, 'id') } },
    postOrganisationApplicationCardPaymentSettlement: { ...ofRecorded, body: because },
    postOrganisationApplicationCardPaymentClosure: { ...ofRecorded, body: paidOtherwise },
  }
}

/** A policy to read, and one to cancel. */
export const preparePolicies = async ({ api, operator }: Callers): Promise<Examples> => {
  const { bound } = steps(api)
  const { paid } = await cardSteps({ api, operator })
  const boundByCard = async () => {
    const { quote, payment_intent_id } = await paid()
    await api('POST', `/api/v1/quotes/${quote}/card_payment`, { payment_intent_id })
    await api('POST', `/api/v1/quotes/${quote}/direct_debit_details`, { direct_debit: directDebit })
    await api('POST', `/api/v1/quotes/${quote}/confirm`)
    const start_date = new Date().toISOString().slice(0, 10)
    const policy_id = idOf(await api('POST', `/api/v1/quotes/${quote}/bind`, { start_date }))
    const premium = await until(
      async () => listOf(await operator('GET', `/admin/v1/premiums?policy_id=${policy_id}&${demoQuery}`))[0],
    )
    return { policy_id, premium_id: textOf(premium, 'premium_id') }
  }
  const [kept, cancelled, cooledOff, toRefund, refunded] = await Promise.all([
    bound(),
    bound(),
    bound(),
    boundByCard(),
    boundByCard(),
  ])
  const inPolicy = `/admin/v1/organisations/${demoOrganisation}/policies`
  const given = dataOf(
    await operator('POST', `${inPolicy}/${refunded.policy_id}/premiums/${refunded.premium_id}/refund`, {
      all: true,
      ...because,
    }),
  )
  const refund_id = textOf(listOf({ data: given['refunds'] })[0], 'refund_id')
  const ofPremium = ({ policy_id, premium_id }: typeof toRefund, more: object = {}): Example => ({
    path: { organisation_id: demoOrganisation, id: policy_id, premium_id, ...more },
  })
  const ofPolicy: Example = { path: { organisation_id: demoOrganisation, id: toRefund.policy_id } }
  const claim = {
    claim_type: 'child_benefit',
    happened_on: new Date().toISOString().slice(0, 10),
    amount_pence: 100_000,
  }
  const opened = dataOf(await operator('POST', `${inPolicy}/${toRefund.policy_id}/claims`, claim))
  const claim_id = textOf(opened, 'claim_id')
  await until(async () => {
    const { status } = dataOf(await api('GET', `/api/v1/policies/${toRefund.policy_id}`))
    return status === 'active' ? status : undefined
  })
  const id = textOf(kept, 'id')
  const version_id = await until(async () => {
    const { documents } = dataOf(await api('GET', `/api/v1/policies/${id}`))
    const [document] = listOf({ data: documents })
    return document && textOf(document, 'version_id')
  })
  const oneRecord: Example = { path: { id }, ...inDemo }
  const decision: Example = {
    path: { organisation_id: demoOrganisation, id: toRefund.policy_id, claim_id },
    body: { decision: 'request_evidence', note: 'The certificate, please.' },
  }
  const refund: Example = { ...ofPremium(toRefund), body: { all: true, ...because } }
  const amendment: Example = { ...ofPolicy, body: { note: 'As agreed by telephone.' } }
  const mandate: Example = { path: { organisation_id: demoOrganisation, id } }
  const cancellation: Example = {
    path: { organisation_id: demoOrganisation, id: textOf(cancelled, 'id') },
    body: { reason: 'customer_request', note: 'By telephone.' },
  }
  return {
    getPolicy: ofId(id),
    getPolicyPremiums: ofId(toRefund.policy_id),
    getPolicyClaims: ofId(toRefund.policy_id),
    postPolicyCancellation: ofId(textOf(cooledOff, 'id'), { reason: 'Found another.' }),
    getPolicyDocument: { path: { id, version_id } },
    getPolicies: inDemo,
    getPolicyRecord: oneRecord,
    getPolicyFile: { path: { id, version_id }, ...inDemo },
    getPolicyTimeline: oneRecord,
    getPremiums: inDemo,
    postOrganisationPolicyPremiumRetry: { ...ofPremium(toRefund), body: because },
    postOrganisationPolicyPremiumRefund: refund,
    postOrganisationPolicyPremiumRefundPreview: refund,
    postOrganisationPolicyPremiumRefundRetry: { ...ofPremium(refunded, { refund_id }), body: because },
    postOrganisationPolicyPremiumRefundClosure: { ...ofPremium(refunded, { refund_id }), body: paidOtherwise },
    getClaims: inDemo,
    postOrganisationPolicyAmendment: amendment,
    postOrganisationPolicyAmendmentPreview: amendment,
    postOrganisationPolicyClaims: { ...ofPolicy, body: claim },
    postOrganisationPolicyClaimDecisions: decision,
    postOrganisationPolicyClaimDecisionsPreview: decision,
    postOrganisationPolicySuspension: ofPolicy,
    postOrganisationPolicySuspensionPreview: ofPolicy,
    postOrganisationPolicyReinstatement: ofPolicy,
    postOrganisationPolicyReinstatementPreview: ofPolicy,
    postOrganisationPolicyMandate: mandate,
    postOrganisationPolicyMandatePreview: mandate,
    postOrganisationPolicyCancellation: cancellation,
    postOrganisationPolicyCancellationPreview: cancellation,
  }
}
