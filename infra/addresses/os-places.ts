import { z } from 'zod'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'
import { addressOf, readAddresses, titleCase, type FoundAddresses } from './address.ts'

const Part = z.string().optional()

const DeliveryPoint = z.object({
  ORGANISATION_NAME: Part,
  SUB_BUILDING_NAME: Part,
  BUILDING_NAME: Part,
  BUILDING_NUMBER: z.union([z.string(), z.number()]).optional(),
  DEPENDENT_THOROUGHFARE_NAME: Part,
  THOROUGHFARE_NAME: Part,
  DOUBLE_DEPENDENT_LOCALITY: Part,
  DEPENDENT_LOCALITY: Part,
  PO_BOX_NUMBER: Part,
  POST_TOWN: z.string(),
  POSTCODE: z.string(),
})

const Answer = z.object({
  /** There is no such key when nothing was found. */
  results: z.array(z.unknown()).default([]),
})

const Entry = z.object({ DPA: DeliveryPoint })

const cased = (part: string | undefined) => part && titleCase(part)

/** The number of a building stands before its street. */
const linesOf = (at: z.output<typeof DeliveryPoint>): readonly (string | undefined)[] => {
  const [street, ...further] = [
    at.DEPENDENT_THOROUGHFARE_NAME,
    at.THOROUGHFARE_NAME,
    at.DOUBLE_DEPENDENT_LOCALITY,
    at.DEPENDENT_LOCALITY,
  ].filter((part) => part !== undefined)
  const numbered = [at.BUILDING_NUMBER, cased(street)].filter((part) => part !== undefined).join(' ')
  const postBox = at.PO_BOX_NUMBER && `PO Box ${at.PO_BOX_NUMBER}`
  const premises = [at.ORGANISATION_NAME, at.SUB_BUILDING_NAME, at.BUILDING_NAME].map(cased)
  return [...premises, postBox, numbered, ...further.map(cased)]
}

/** OS Places, `GET /search/places/v1/postcode`. */
export const osPlaces =
  (http: Pick<GuardedHttp, 'request'>) =>
  async ({ base_url, secret }: OpenedAccount, postcode: string): Promise<FoundAddresses> => {
    const query = new URLSearchParams({ postcode, dataset: 'DPA', maxresults: '100' })
    const answer = await askJson(http, {
      method: 'GET',
      url: `${base_url}/search/places/v1/postcode?${query.toString()}`,
      headers: { key: secret },
    })
    const found = answer?.status === 200 ? Answer.safeParse(answer.body).data : undefined
    return (
      found && readAddresses(found.results, Entry, ({ DPA }) => addressOf(linesOf(DPA), DPA.POST_TOWN, DPA.POSTCODE))
    )
  }
