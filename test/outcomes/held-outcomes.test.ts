import { expect, test } from 'vitest'
import { outcomeReportEvents } from '#domain/outcomes/events.ts'
import { heldOutcomes } from '../../projections/outcomes/projection.ts'
import { sampleEvent, sampleOf } from '../stored-events/samples.ts'

test('a held outcome is found by whom it names, however their id, email and number are written', () => {
  const sample = sampleOf('InvalidOutcomeReported')
  const event = sampleEvent(outcomeReportEvents, 'InvalidOutcomeReported')
  const id = 'C0000000-0000-4000-8000-000000000001'
  const lead = { ...event.sent.lead, id, external_id: ' CRM-7 ', email: ' Anna@Example.org ', phone: '+44 7700 900123' }

  const [key] = heldOutcomes.keys(event, sample)
  if (!key) throw new Error('It is not held.')

  expect(heldOutcomes.project(undefined, { ...event, sent: { ...event.sent, lead } }, sample, key)).toMatchObject({
    named_id: id.toLowerCase(),
    external_id: 'CRM-7',
    email: 'anna@example.org',
    phone_digits: '700900123',
  })
})
