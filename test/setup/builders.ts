/** A set-up file with an organisation, an API application, a rate table and a product. */
export const file = `
organisations:
  - slug: acme
    name: Acme Life
    api_applications:
      - name: Server
        scopes: [read, write]
    rate_tables:
      - key: life.level
        version: 1
        csv: |
          age,term,smoker,rate_e4
          30,10,n,23360
          30,10,s,56052
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
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 5
            term_years_max: 40
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean }
`

/** The file with one of its lines replaced. */
export const withLine = (line: string, replaced: string) => {
  if (!file.includes(`${line}\n`)) throw new Error(`The file has no line ${line}.`)
  return file.replace(`${line}\n`, `${replaced}\n`)
}
/** The line on which a text first stands. */
export const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length
