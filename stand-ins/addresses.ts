import { startStandIn, type StandInAnswer } from './stand-in.ts'

type Delivery = {
  readonly organisation?: string
  readonly sub_building?: string
  readonly building?: string
  readonly number?: string
  readonly street?: string
  readonly locality?: string
}

type Place = { readonly town: string; readonly deliveries: readonly Delivery[] }

const houses = (street: string, count: number, locality?: string): Delivery[] =>
  Array.from({ length: count }, (_, index) => ({
    number: String(index + 1),
    street,
    ...(locality !== undefined && { locality }),
  }))

/** All addresses are invented, at postcodes that exist in part. */
const places: Readonly<Record<string, Place>> = {
  'ID1 1QD': {
    town: 'LONDON',
    deliveries: [{ organisation: 'Kingsley Foods', number: '2', street: 'BARONS COURT ROAD' }],
  },
  'SW1A 1AA': { town: 'LONDON', deliveries: [{ building: 'NORTHLIGHT HOUSE', street: 'THE MALL' }] },
  'SW1A 2AA': { town: 'LONDON', deliveries: houses('DOWNING WALK', 3) },
  'M1 1AE': {
    town: 'MANCHESTER',
    deliveries: [1, 2, 3, 4].map((flat) => ({
      sub_building: `FLAT ${flat}`,
      building: 'IMPERIAL MILL',
      street: 'DUCIE STREET',
    })),
  },
  'LS1 4AP': { town: 'LEEDS', deliveries: houses('PARK ROW', 6) },
  'ST1 1AA': { town: 'STOKE-ON-TRENT', deliveries: houses('POTTERY LANE', 4, 'HANLEY') },
  'PE30 1AA': { town: "KING'S LYNN", deliveries: houses('QUAY STREET', 2) },
  'CF10 1EP': { town: 'CARDIFF', deliveries: houses('HIGH STREET', 100) },
  'EH1 1YZ': { town: 'EDINBURGH', deliveries: houses('NORTH BRIDGE WYND', 5) },
  'BT1 5GS': { town: 'BELFAST', deliveries: houses('DONEGALL MEWS', 3) },
}

/** Postcodes at which the provider itself fails. */
const magic: Readonly<Record<string, StandInAnswer>> = {
  'ZZ1 1AA': { status: 402, body: { code: 4020, message: 'Key balance depleted' } },
  'ZZ1 1AB': { status: 503, body: { code: 5000, message: 'Service unavailable' } },
  'ZZ1 1AD': 'hang',
}

const text = (...parts: readonly (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ')

const asIdealPostcodes = (postcode: string): StandInAnswer => {
  const place = places[postcode]
  if (!place) return { status: 404, body: { code: 4040, message: 'Postcode not found', suggestions: [] } }
  const result = place.deliveries.map((at, index) => {
    const lines = [at.organisation, text(at.sub_building, at.building), text(at.number, at.street), at.locality]
    const [line_1 = '', line_2 = '', line_3 = ''] = lines.filter((line) => line !== undefined && line !== '')
    return { line_1, line_2, line_3, post_town: place.town, postcode, country: 'England', udprn: index + 1, uprn: '' }
  })
  return { status: 200, body: { code: 2000, message: 'Success', result, limit: 100, page: 0, total: result.length } }
}

const asOsPlaces = (postcode: string): StandInAnswer => {
  const place = places[postcode]
  const header = { totalresults: place?.deliveries.length ?? 0 }
  if (!place) return { status: 200, body: { header } }
  const results = place.deliveries.map((at, index) => ({
    DPA: {
      UPRN: String(index + 1),
      ...(at.organisation !== undefined && { ORGANISATION_NAME: at.organisation }),
      ...(at.sub_building !== undefined && { SUB_BUILDING_NAME: at.sub_building }),
      ...(at.building !== undefined && { BUILDING_NAME: at.building }),
      ...(at.number !== undefined && { BUILDING_NUMBER: at.number }),
      ...(at.street !== undefined && { THOROUGHFARE_NAME: at.street }),
      ...(at.locality !== undefined && { DEPENDENT_LOCALITY: at.locality }),
      POST_TOWN: place.town,
      POSTCODE: postcode,
    },
  }))
  return { status: 200, body: { header, results } }
}

/** Speaks Ideal Postcodes and OS Places. */
export const startAddresses = (port?: number) =>
  startStandIn(({ url, header }) => {
    const ideal = /^\/v1\/postcodes\/([^/]+)$/.exec(url.pathname)?.[1]
    if (ideal !== undefined) {
      if (!header('authorization')?.startsWith('api_key=')) return { status: 401, body: { code: 4010 } }
      const postcode = decodeURIComponent(ideal)
      return magic[postcode] ?? asIdealPostcodes(postcode)
    }
    if (url.pathname !== '/search/places/v1/postcode') return { status: 404, body: { code: 4000 } }
    if (!header('key')) return { status: 401, body: { fault: { faultstring: 'Invalid ApiKey' } } }
    const postcode = url.searchParams.get('postcode') ?? ''
    return magic[postcode] ?? asOsPlaces(postcode)
  }, port)
