import { z } from 'zod'

const Metadata = z.record(z.string(), z.string()).default({})
const Reference = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish()
const Id = z.string().regex(/^\w{1,255}$/)
const Word = z
  .string()
  .regex(/^[a-z0-9_]{1,100}$/)
  .nullish()
  .catch(null)

const Intent = z.object({
  id: Id,
  amount: z.int(),
  metadata: Metadata,
  last_payment_error: z.object({ code: Word, decline_code: Word }).nullish(),
})
const Charge = z.object({
  amount_refunded: z.int(),
  refunded: z.boolean(),
  payment_intent: Reference,
  metadata: Metadata,
})
/** Only a refund's failure concerns us. */
const FailedRefund = z.object({
  id: Id,
  amount: z.int(),
  status: z.enum(['failed', 'canceled']),
  failure_reason: Word,
  payment_intent: Reference,
  metadata: Metadata.nullable().transform((metadata) => metadata ?? {}),
})
const Dispute = z.object({ id: Id, amount: z.int(), status: z.string().optional(), payment_intent: Reference })
const Mandate = z.object({
  id: Id,
  status: z.string(),
  payment_method_details: z.object({
    bacs_debit: z.object({ network_status: z.enum(['pending', 'accepted', 'refused', 'revoked']) }).nullish(),
  }),
})

const envelope = <Type extends string, Schema extends z.ZodType>(type: Type, object: Schema) =>
  z.object({
    id: Id,
    /** The time of the event, in seconds. */
    created: z.int().optional(),
    livemode: z.boolean(),
    account: z.string().optional(),
    type: z.literal(type),
    data: z.object({ object }),
  })

/** An event of the payment provider, of a type that concerns us. */
const ProviderEvent = z.discriminatedUnion('type', [
  envelope('payment_intent.succeeded', Intent),
  envelope('payment_intent.amount_capturable_updated', Intent),
  envelope('payment_intent.payment_failed', Intent),
  envelope('charge.refunded', Charge),
  // Which of these comes depends on how it was paid, and several may: for some, `refund.updated` alone tells.
  envelope('refund.failed', FailedRefund),
  envelope('refund.updated', FailedRefund),
  envelope('charge.refund.updated', FailedRefund),
  envelope('charge.dispute.created', Dispute),
  // One that began as an inquiry takes the money later, and of one that the firm wins it comes back.
  envelope('charge.dispute.funds_withdrawn', Dispute),
  envelope('charge.dispute.funds_reinstated', Dispute),
  // Of one that the firm loses nothing else tells.
  envelope('charge.dispute.closed', Dispute),
  envelope('mandate.updated', Mandate),
])
export type ProviderEvent = z.output<typeof ProviderEvent>

/** The signed event; `other` when it is no concern of ours, or cannot be read. */
export const readProviderEvent = (body: Buffer): ProviderEvent | 'other' => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch {
    return 'other'
  }
  return ProviderEvent.safeParse(parsed).data ?? 'other'
}
