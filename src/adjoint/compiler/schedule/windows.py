"""How a convolution or pool runs, as a value: who computes it, and how many images, tiles or outputs at a time."""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.compiler.extents import larger
from adjoint.compiler.fuse.kinds import Window
from adjoint.compiler.loops.build import lanes_of
from adjoint.compiler.loops.winograd_tiles import FORMS
from adjoint.compiler.schedule.chunks import balanced, evenly
from adjoint.compiler.schedule.matmul import ProductSchedule, panels
from adjoint.compiler.targets.target import target, tuning
from adjoint.shapes import Shape, size_of

SPARE = 4  # registers that hold no sums


class WindowSchedule(NamedTuple):
    """All that is decided of a window."""

    # oneDNN: its calls. 2×2 outputs: with fewer multiplications. strips: outputs in registers. loops: of a pool.
    way: str
    images: int
    tile: int  # images in a range; of the gradient of weights, in a part
    lanes: int
    strip: int = 0  # outputs in a row that stay in registers
    form: str = ""  # of tiles, by what the stride makes of them
    block: int = 0  # tiles computed together
    product: ProductSchedule | None = None  # of these, at each of their places

    @property
    def parts(self) -> int:
        """Ranges of images."""
        return -(-self.images // self.tile)

    def __str__(self) -> str:
        """In words: `2×2 outputs, 72 together, 4 of 8 images at a time; tiles of 8×3 vectors of 16`."""
        words = [self.way, f"vectors of {self.lanes}"] if self.way == "loops" else [self.way]
        words += [f"{self.strip} outputs in registers"] * (self.strip > 0)
        words += [f"{self.block} together"] * (self.block > 0)
        words.append(f"{self.tile} of {self.images} images at a time")
        return "; ".join([", ".join(words), *([str(self.product)] if self.product else [])])


def schedule_window(window: Window, tile: int | None = None, pool: Window | None = None) -> WindowSchedule:
    """How a window runs, so many images at a time if that is given, with a `pool` of what it has in registers."""
    table, sizes = tuning(), window.sizes
    if sizes is None:
        images, dtype = window.shape[0], window.dtypes[0]
        most = max(min(table.pool_tile // size_of(window.reads[0].shape[1:]), images), 1)
        return WindowSchedule("loops", images, tile or evenly(images, most), lanes_of(dtype, window.shape[-1]))
    gradient = window.step.op.name == "convolution_weight_gradient"
    images = window.reads[0].shape[0] if gradient else window.shape[0]
    work = size_of(sizes.becomes) * size_of(sizes.weights[1:])  # multiplications for an image
    if tile is None:
        count = -(-images // max(table.image_tile // work, sizes.together))
        tile = balanced(images, range(count, 2 * count + 1))
    if gradient:  # a part must have enough to add up to each weight, or writing it takes longer than computing it
        tile = max(tile, -(-images // table.weight_parts), table.weight_pixels // size_of(sizes.becomes[1:]))
        count = -(-images // min(tile, images))
        tile = balanced(images, range(count // 2 + 1, count + 1))
    found = WindowSchedule("oneDNN", images, min(tile, images), lanes_of("float32"))
    if window.in_tiles:
        return _in_tiles(window, found)
    return _in_strips(found, sizes.weights[0], sizes.becomes[2], pool) if window.in_strips else found


def _in_tiles(window: Window, found: WindowSchedule) -> WindowSchedule:
    """With fewer multiplications: how many tiles are computed together, and their products."""
    table, sizes, kind, images, tile = tuning(), window.sizes, window.step.op.name, found.images, found.tile
    assert sizes is not None
    adds_up, turned = kind == "convolution_weight_gradient", kind == "convolution_input_gradient"
    name = ("spread" if turned else "strided") if sizes.geometry.stride != (1, 1) else ""
    form = FORMS[name]
    source, (channels, rows, columns) = (sizes.becomes, sizes.image) if turned else (sizes.image, sizes.becomes)
    of_image = -(-rows // form.made) * -(-columns // form.made)
    if adds_up:  # a part adds up enough to be worth its sums
        least = -(-4 * table.winograd_sums // of_image)
        tile = evenly(images, min(max(tile, least), images))
    most = table.winograd_sums if adds_up else table.winograd_tiles
    most = larger(most * 16 // form.side**2, 1)  # as much space for a block
    count = -(-tile * of_image // most)
    heights = dict(table.heights)
    beside = tuple(panels(channels, found.lanes, max(heights)))
    together = 1 if adds_up else heights[beside[0].vectors]  # rows of a tile of a product
    block = -(-tile * of_image // (count * together)) * together
    sums = table.sums if not adds_up and source[0] > table.deep else 0
    overlap = 0 if adds_up else table.twice
    product = ProductSchedule("tiles", "", block, found.lanes, beside, table.heights, sums=sums, overlap=overlap)
    return found._replace(way="2×2 outputs", tile=tile, form=name, block=block, product=product)


def _in_strips(found: WindowSchedule, channels: int, columns: int, pool: Window | None) -> WindowSchedule:
    """By the definition: how many outputs in a row stay in registers. Those that belong to a window of a pool do together."""
    down, across = together(pool)
    if pool is not None:
        columns = pool.step.attributes.counts[1] * across
    most, windows = (target().registers - SPARE) // (down * across), columns // across
    widths = range(max(most // 2, 1), min(most, windows) + 1)  # of a strip, of which the last may cover some again
    width = min(widths, key=lambda n: (-(-windows // n) * n, -n), default=windows)
    return found._replace(way="strips", lanes=lanes_of("float32", channels), strip=width * across)


def together(pool: Window | None) -> Shape:
    """Outputs that belong together, in a column and in a row."""
    sizes: Shape = (1, 1) if pool is None else pool.step.attributes.sizes
    return sizes
