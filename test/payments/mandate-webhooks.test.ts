import { expect, test } from 'vitest'
import { paymentEvents } from '#domain/payments/events.ts'
import { mandates } from '../../delivery-worker/lifecycle/mandates.ts'
import { recorded } from '../recorded.ts'
import { samples } from '../stored-events/samples.ts'

const sample = samples.find(({ name }) => name === 'MandateCreated.v2')?.event
if (!sample) throw new Error('There is no sample of MandateCreated.')
const mandate_id = mandates.idOf(sample) as never

test('mandates are told of by their published names, with the provider’s id and nothing of the bank account', () => {
  const facts = mandates.remember(undefined, sample) ?? {}
  const ended = recorded(paymentEvents, sample.stream, [
    { type: 'MandateActivated', mandate_id },
    { type: 'MandateFailed', mandate_id },
    { type: 'MandateCancelled', mandate_id, end: 'revoked' },
  ])

  const told = [sample, ...ended].map((each) => mandates.happening(facts, each))

  const payload = { mandate_id: 'mandate_a1', quote_id: '20000000-0000-4000-8000-000000000001' }
  expect(told).toEqual([
    { type: 'mandate.created', payload },
    { type: 'mandate.activated', payload },
    { type: 'mandate.failed', payload },
    { type: 'mandate.cancelled', payload: { ...payload, reason: 'revoked' } },
  ])
  expect(facts['product_id']).toBe('10000000-0000-4000-8000-000000000001')
})
