import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { outreachSettingsEvents, type OutreachSettingsEvent } from './events.ts'
import { evolveSettings, noSettings, type OutreachSettings } from './stream-record.ts'

export type ChangeSettings = {
  readonly type: 'ChangeSettings'
  readonly organisation_id: OrganisationId
  readonly is_on: boolean | undefined
  readonly writer_price: OutreachSettings['writer_price'] | undefined
  readonly exchange_rates: OutreachSettings['exchange_rates']
}

const decide = (command: ChangeSettings, settings: OutreachSettings): readonly OutreachSettingsEvent[] => {
  const { organisation_id, is_on, writer_price, exchange_rates } = command
  const isKnown = ({ day, usd_rate }: OutreachSettings['exchange_rates'][number]) =>
    settings.exchange_rates.some((each) => each.day === day && each.usd_rate === usd_rate)
  return [
    ...(is_on !== undefined && is_on !== settings.is_on
      ? [{ type: 'OutreachSwitched', organisation_id, is_on } as const]
      : []),
    ...(writer_price && !isSameJson(writer_price, settings.writer_price)
      ? [{ type: 'WriterPriced', organisation_id, ...writer_price } as const]
      : []),
    ...exchange_rates
      .filter((rate) => !isKnown(rate))
      .map((rate) => ({ type: 'ExchangeRateRecorded', organisation_id, ...rate }) as const),
  ]
}

export const outreachSettings: Decider<ChangeSettings, typeof outreachSettingsEvents, OutreachSettings> = {
  category: 'outreach_settings',
  events: outreachSettingsEvents,
  initialState: noSettings,
  decide,
  evolve: evolveSettings,
}
