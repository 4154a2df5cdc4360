import { z } from 'zod'
import { presentationOfApplication, type ApplicationRecord } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { stageConfigs } from '#domain/catalogue/record.ts'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { cacheOfBytes } from '#infra/size.ts'
import { findDocument } from '../find-document.ts'
import type { BoundedCalls } from '#infra/bounded-calls.ts'
import { readPhoneNumber } from './phone-number.ts'

/** A number's state at its network; undefined when nobody can say at the moment. */
export type LookUpLine = (
  account: OpenedAccount,
  number: string,
) => Promise<'in_use' | 'unassigned' | 'switched_off' | undefined>

export const PhoneCheck = z.object({
  valid: z.boolean(),
  normalised: z.string().optional().describe('In E.164; only when it is valid.'),
  reason: z
    .enum(['blank', 'format_invalid', 'too_short', 'too_long', 'invalid_number', 'lookup_unavailable', 'drama_number'])
    .optional()
    .describe('Left out when there is nothing to say.'),
})
type PhoneCheck = z.output<typeof PhoneCheck>

/** A presentation's settings for checking phone numbers. */
export type PhoneSettings = z.output<typeof stageConfigs.personal_details>['phone_check']

export const defaultSettings: PhoneSettings = { enabled: true, reject_switched_off: false }

type Deps = { readonly openAccount: OpenAccount; readonly lookUpLine: LookUpLine; readonly calls: BoundedCalls }

/** Checks a number as written first, then asks the validation service. Without an answer the number is accepted. */
export const makePhoneCheck =
  ({ openAccount, lookUpLine, calls }: Deps) =>
  async (organisation_id: OrganisationId, sent: string, settings: PhoneSettings): Promise<PhoneCheck> => {
    const read = readPhoneNumber(sent)
    if ('fault' in read) return { valid: false, reason: read.fault }
    const accepted = { valid: true, normalised: read.number }
    if (!settings.enabled) return accepted

    const account = openAccount(organisation_id, 'twilio_lookup')
    const line = account && (await calls(organisation_id, () => lookUpLine(account, read.number)))
    switch (line) {
      case undefined:
        return { ...accepted, reason: 'lookup_unavailable' }
      case 'in_use':
        return accepted
      case 'unassigned':
        return { valid: false, reason: 'invalid_number' }
      case 'switched_off':
        return settings.reject_switched_off ? { valid: false, reason: 'invalid_number' } : accepted
    }
  }

const cacheBytes = 4 * 2 ** 20

/** The settings of the presentation that an application of the organisation is shown with; undefined without one. */
export const settingsReader = (db: Database) => {
  // A release never changes, so neither do its presentations.
  const known = cacheOfBytes<{ readonly settings: PhoneSettings | undefined }>(cacheBytes)

  return async (organisation_id: OrganisationId, application_id: string): Promise<PhoneSettings | undefined> => {
    const { rows: applications } = await db.query<Placed>({
      name: 'place-of-application',
      ...sql`select release_id, journey_id, presentation_id from applications
        where organisation_id = ${organisation_id} and id = ${application_id}`,
    })
    const [placed] = applications
    if (!placed || placed.presentation_id === null) return undefined
    const key = `${placed.release_id} ${placed.presentation_id}`
    const cached = known.get(key)
    if (cached) return cached.settings

    const release = await findDocument<Release>(db, 'releases', organisation_id, placed.release_id)
    const stages = release && presentationOfApplication(release, placed)?.stages
    const details = stages?.find(({ stage_type }) => stage_type === 'personal_details')
    const settings = details && stageConfigs.personal_details.safeParse(details.config).data?.phone_check
    if (stages) known.set(key, { settings })
    return settings
  }
}

type Placed = Pick<ApplicationRecord, 'release_id' | 'journey_id' | 'presentation_id'>
