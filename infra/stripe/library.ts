import { createRequire } from 'node:module'
import type Stripe from 'stripe'

const require = createRequire(import.meta.url)

/** Loaded where money is first taken, or told of: its two hundred files would delay every start. */
export const stripe = (): typeof Stripe => require('stripe') as typeof Stripe // what is loaded has no type of its own
