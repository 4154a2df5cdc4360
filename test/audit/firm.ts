/** A firm that sells one product, as a set-up file. */
export const firm = (slug: string) => `organisations:
  - slug: ${slug}
    name: A firm
    products:
      - slug: simple-life
        name: Simple Life
        product_type: term
        lifecycle_state: production
        rate_tables: { level: 1 }
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
          - { slug: standard, name: On our web pages }
    rate_tables:
      - { key: level, version: 1, csv: "term,rate_e4\\n10,12000\\n20,14000\\n" }
`
