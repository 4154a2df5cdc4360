/** A firm that sells, takes leads, writes to people and has members, as a set-up file. The rates are those of a version. */
export const randomFirm = (provider: string, version = 1, name = 'Simple Life') => `organisations:
  - slug: firm
    name: A firm
    stripe_test_mode: true
    payment_accounts:
      - { mode: test, base_url: '${provider}', secret_key: sk_test_firm, webhook_secret: whsec_firm }
    endpoint_connections:
      - { name: crm, base_url: 'https://crm.example.com/hooks', signing_secret: the secret of the firm }
    campaigns:
      - { key: plain, name: Plain }
      - { key: strict, name: Strict, rules: [{ rule: required, field: phone }] }
    custom_fields:
      - { key: budget, label: Budget, type: money }
    outreach: [{ on: true, exchange_rates: [{ day: 2026-01-01, usd_rate: '0.8' }] }]
    loyalty_programmes:
      - slug: club
        name: Club
        tiers: [{ key: silver, name: Silver, threshold: 0 }, { key: gold, name: Gold, threshold: 500 }]
        products: [simple-life]
    products:
      - slug: simple-life
        name: ${name}
        product_type: term
        lifecycle_state: production
        rate_tables: { level: ${version} }
        covers:
          - cover_type: life
            rate_table: level
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 50000000
            age_at_entry_min: 18
            age_at_entry_max: 60
            term_years_min: 10
            term_years_max: 20
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean }
    rate_tables:
      - { key: level, version: ${version}, csv: "term,rate_e4\\n10,${12_000 + version}\\n20,${14_000 + version}\\n" }
`
