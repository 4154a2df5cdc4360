export const paymentSecret = 'whsec_of_acme'

/** What the firm is told of. */
const types = [
  'activity.policy_bound',
  ...['bound', 'activated', 'expired', 'amended', 'indexed', 'reviewed', 'suspended'].map((name) => `policy.${name}`),
  ...['reinstated', 'lapsed', 'cancelled', 'document_issued'].map((name) => `policy.${name}`),
  ...['due', 'collected', 'failed', 'retried', 'refunded', 'refund_failed', 'written_off'].map(
    (name) => `premium.${name}`,
  ),
  ...['opened', 'evidence_requested', 'approved', 'declined', 'paid', 'closed', 'reopened'].map((n) => `claim.${n}`),
]

/** A firm with one product whose premiums follow prices and are reviewed every year. */
export const firmFile = (hooks: string, provider: string, ofYearTwo = '') => `
organisations:
  - slug: acme
    name: Acme Life
    stripe_test_mode: true
    payment_accounts:
      - { mode: test, base_url: '${provider}', secret_key: sk_test_acme, webhook_secret: ${paymentSecret} }
    endpoint_connections:
      - { name: firm, base_url: '${hooks}', signing_secret: the secret of the firm }
    workflows:
${types.map((type) => `      - { name: ${type}, trigger: { event_type: ${type} }, actions: [{ kind: webhook, endpoint_connection: firm }] }`).join('\n')}
    policy_rules:
      - rpi: [${[0, 1, 2, 3].map((more) => `{ year: ${new Date().getUTCFullYear() + more}, percent: '10' }`).join(', ')}]
    rate_tables:
      - { key: life.level, version: 1, csv: "age,smoker,rate_e4\\n34,n,45818\\n34,s,99999\\n" }
${ofYearTwo}
    products:
      - slug: term
        name: Term
        product_type: term
        lifecycle_state: production
        rate_tables: { life.level: 1 }
        smoker: { key: smoker, values: [true] }
        covers:
          - cover_type: life
            rate_table: life.level
            premium_basis: reviewable
            review_period_years: 1
            indexation_method: rpi
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 1
            term_years_max: 40
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean, required: true }
`
