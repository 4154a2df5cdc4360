/** The parts of the API's records that this page reads. See the API's documentation for all of them. */

export type Stage = {
  readonly key: string
  readonly stage_type: string
  readonly title: string
  readonly cta_label: string | null
  readonly consent_notice?: string
  readonly config: Readonly<Record<string, unknown>>
}

export type Customer = {
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
  readonly phone_number: string | null
  readonly dob: string | null
  readonly address_line1: string | null
  readonly city: string | null
  readonly postal_code: string | null
}

export type Answer = string | number | boolean | readonly string[]

export type Application = {
  readonly id: string
  readonly status: string
  readonly share_token?: string
  readonly risk_factors: Readonly<Record<string, Answer>>
  readonly cover_amount_pence: number | null
  readonly term_years: number | null
  readonly customer: Customer | null
  /** The second person of joint cover. */
  readonly joint_customer: Customer | null
  readonly inline_bacs_mandate: boolean
  readonly direct_debit_first: boolean
  readonly market_quotes: MarketQuotes | null
  readonly policy_id: string | null
  readonly presentation: { readonly stages: readonly Stage[] } | null
}

export type MarketResult = {
  readonly result_id: string
  readonly provider_name: string
  readonly product_name: string
  readonly premium_pence: number
  readonly status: string
  readonly selected: boolean
}

export type MarketQuotes = {
  readonly status: 'pending' | 'fetching' | 'completed' | 'failed'
  readonly provider_count: number
  readonly results: readonly MarketResult[]
}

/** The parts of a product that decide how its cover is asked for. */
export type Product = {
  readonly covers: readonly {
    readonly cover_index: number
    readonly title: string | null
    readonly pricing_basis: string
    readonly benefit_basis: string
    readonly member_premium_pence: number | null
    readonly opt_in_factor: string | null
  }[]
  readonly cover_bounds: {
    readonly sum_assured_min_pence: number | null
    readonly sum_assured_max_pence: number | null
    readonly term_min: number | null
    readonly term_max: number | null
  }
}

export type OpenedPayment = {
  readonly payment_intent: { readonly id: string; readonly client_secret: string }
  readonly amount_pence: number
  readonly publishable_key: string | null
  readonly stripe_account: string | null
}

export type OpenedSession = {
  readonly session: { readonly id: string; readonly client_secret: string }
  readonly publishable_key: string | null
  readonly stripe_account: string | null
}

export type Question = {
  readonly key: string
  readonly label: string
  readonly help_text: string | null
  readonly question_type: 'date' | 'string' | 'number' | 'integer' | 'boolean' | 'enum' | 'multi_select' | 'derived'
  readonly required: boolean
  readonly validation: { readonly min?: number; readonly max?: number }
  readonly group_key: string | null
  readonly group_label: string | null
  readonly suggestions: readonly { readonly label: string }[]
  readonly answer_options: readonly {
    readonly value: string
    readonly label: string
    /** Choosing it ends the application. */
    readonly terminal_outcome?: 'decline' | 'refer' | 'postpone'
    readonly terminal_reason_message: string | null
  }[]
  readonly ask_if?: { readonly key: string; readonly equals: Answer }
}

export type Quote = {
  readonly id: string
  readonly premium_pence: number
  readonly policy_fee_pence: number
  readonly cover_amount_pence: number | null
  readonly term_years: number | null
  readonly components: readonly { readonly monthly_benefit_pence: number | null }[]
  readonly expires_at: string
  readonly loadings: readonly { readonly label: string }[]
}

export type BeforeYouBuy = {
  readonly show: boolean
  readonly sellable: boolean
  readonly demands_and_needs: string | null
  readonly key_documents: readonly { readonly name: string; readonly url: string }[]
  readonly cancellation: { readonly days: number; readonly statement: string } | null
  readonly confirmation: {
    readonly intro: string
    readonly points: readonly string[]
    readonly question: string
  } | null
}

export type Address = {
  readonly address_line1: string
  readonly address_line2: string
  readonly city: string
  readonly postal_code: string
}

export type Policy = {
  readonly id: string
  readonly policy_number: string
  readonly start_date: string
  readonly premium_pence: number
  readonly first_collection_on: string
  readonly cooling_off_ends_on: string | null
  readonly documents: readonly { readonly name: string; readonly url: string }[]
}
