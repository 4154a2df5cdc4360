import { z } from 'zod'
import { deliverySettings } from './events.ts'

/** Settings for deliveries over a connection. */
export const DeliverySettings = z
  .object({
    per_second: deliverySettings.per_second.describe('At most so many deliveries a second; null: no limit of its own.'),
    at_once: deliverySettings.at_once.describe(
      'At most so many deliveries at the same time; null: no limit of its own.',
    ),
    in_order: deliverySettings.in_order.describe(
      'Whether the deliveries about one record are sent one after the other: each waits until those of earlier events have arrived or failed.',
    ),
    disable_after_minutes: deliverySettings.disable_after_minutes.describe(
      'Nothing more is sent after it has failed for so long without a success (statuses of 500 and more, or no answer); null: never. What is planned waits until it is recovered.',
    ),
  })
  .meta({ id: 'DeliverySettings' })
export type DeliverySettings = z.infer<typeof DeliverySettings>

export const noDeliverySettings: DeliverySettings = {
  per_second: null,
  at_once: null,
  in_order: false,
  disable_after_minutes: null,
}
