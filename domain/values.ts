import { z } from 'zod'

/** The same id in any case is one id: it names streams, and keys are derived from it. */
const id = <Name extends string>() => z.uuid().toLowerCase().brand<Name>()

export const OrganisationId = id<'OrganisationId'>()
export type OrganisationId = z.infer<typeof OrganisationId>

export const ApiApplicationId = id<'ApiApplicationId'>()
export type ApiApplicationId = z.infer<typeof ApiApplicationId>

export const ProductId = id<'ProductId'>()
export type ProductId = z.infer<typeof ProductId>

export const ReleaseId = id<'ReleaseId'>()
export type ReleaseId = z.infer<typeof ReleaseId>

export const JourneyId = id<'JourneyId'>()
export type JourneyId = z.infer<typeof JourneyId>

export const PresentationId = id<'PresentationId'>()
export type PresentationId = z.infer<typeof PresentationId>

export const CoverId = id<'CoverId'>()
export type CoverId = z.infer<typeof CoverId>

export const CustomerId = id<'CustomerId'>()
export type CustomerId = z.infer<typeof CustomerId>

export const ApplicationId = id<'ApplicationId'>()
export type ApplicationId = z.infer<typeof ApplicationId>

export const QuoteId = id<'QuoteId'>()
export type QuoteId = z.infer<typeof QuoteId>

export const CampaignId = id<'CampaignId'>()
export type CampaignId = z.infer<typeof CampaignId>

export const IngestId = id<'IngestId'>()
export type IngestId = z.infer<typeof IngestId>

export const PolicyId = id<'PolicyId'>()
export type PolicyId = z.infer<typeof PolicyId>

export const ProgrammeId = id<'ProgrammeId'>()
export type ProgrammeId = z.infer<typeof ProgrammeId>

export const MembershipId = id<'MembershipId'>()
export type MembershipId = z.infer<typeof MembershipId>

export const OutreachStreamId = id<'OutreachStreamId'>()
export type OutreachStreamId = z.infer<typeof OutreachStreamId>

export const UserId = id<'UserId'>()
export type UserId = z.infer<typeof UserId>

/** The work of a person in an organisation's team, by which routes are open to them. */
export const OrganisationRole = z.enum(['owner', 'leads', 'underwriting', 'policies', 'claims', 'finance', 'auditor'])
export type OrganisationRole = z.infer<typeof OrganisationRole>

/** The same of a person who works for the whole installation. */
export const InstallationRole = z.enum(['operator', 'auditor'])
export type InstallationRole = z.infer<typeof InstallationRole>

export const UserRole = z.enum([...OrganisationRole.options, 'operator'])
export type UserRole = z.infer<typeof UserRole>

/** Whole pence: the smallest unit of the currency. */
export const Pence = z.int()

/** ISO 4217, for example `GBP`. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters, such as GBP')

/** A calendar date, `YYYY-MM-DD`. PostgreSQL has no year 0. */
export const CalendarDate = z.iso
  .date()
  .refine((date) => !date.startsWith('0000'), 'must be a date after the year 0000')

const Instant = z.iso.datetime({ offset: true })

/** Other systems leave the seconds out, or the colon in the offset: 2026-01-12T10:00Z, 2026-01-12T10:00:00.000+0000. */
const inFull = (sent: string): string =>
  sent.replace(
    /^([\d-]{10}T\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d)(?::?(\d\d))?)$/,
    (_whole, start: string, seconds = ':00', utc?: string, hours?: string, minutes = '00') =>
      `${start}${String(seconds)}${utc ?? `${hours}:${String(minutes)}`}`,
  )

/** A moment as somebody sends it, at any offset from UTC; read as UTC. Its year is one that dates of ISO 8601 can write. */
export const SentInstant = z
  .stringFormat('datetime', (sent) => Instant.safeParse(inFull(sent)).success)
  .meta({ format: 'date-time' })
  .transform((sent, context) => {
    const instant = new Date(inFull(sent))
    const year = instant.getUTCFullYear()
    if (year >= 1 && year <= 9999) return instant.toISOString()
    context.addIssue({ code: 'custom', message: 'must be a moment in the years 1 to 9999', input: sent })
    return z.NEVER
  })

/** Names in addresses: lower-case words joined by dashes. */
export const Slug = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single dashes')

export const ProductType = z.enum([
  'term',
  'decreasing_term',
  'whole_of_life',
  'critical_illness',
  'income_protection',
  'bundled',
  'child_cover',
  'healthcare',
])
export type ProductType = z.infer<typeof ProductType>

export const CoverType = z.enum([
  'life',
  'critical_illness',
  'income_protection',
  'accidental_death',
  'child_benefit',
  'healthcare',
])
export type CoverType = z.infer<typeof CoverType>

/** A way to reach a person, for which consent is asked. */
export const Channel = z.enum(['email', 'sms', 'whatsapp', 'phone', 'post'])

/** An id of the payment provider: `pi_…`, `mandate_…`, `cus_…`. */
export const ProviderId = z.string().regex(/^\w{1,255}$/)

/** A word of the provider's, such as `card_declined` or `visa`. */
export const ProviderWord = z.string().regex(/^[a-z0-9_]{1,100}$/)

/** A visitor's origin. Parts that look personal were taken out, which cannot be done for sure in a page address or title. */
export const Provenance = z.object({
  page_url: z.string().optional(),
  referrer: z.string().optional(),
  page_title: z.string().optional(),
  locale: z.string().optional(),
  timezone: z.string().optional(),
  utm: z.record(z.string(), z.string()).optional(),
  click_ids: z.record(z.string(), z.string()).optional(),
})
export type Provenance = z.infer<typeof Provenance>
