import { lua, luaString, type LuaState, textAt } from './fengari.js';
import { type Library, raise } from './library.js';

/** The sizes of the integers of a format of which all are unsigned, and of which the first byte is the highest. */
function sizesOf(format: string): number[] {
  if (!/^>(I\d)+$/.test(format)) throw new Error(`The format ${format} is not simulated.`);
  return [...format.matchAll(/I(\d)/g)].map(([, size]) => Number(size));
}

/** The library `struct`, as far as the scripts use it. */
export const structLibrary: Library = {
  pack(state: LuaState) {
    const sizes = sizesOf(textAt(state, 1));
    const bytes = sizes.flatMap((size, i) => {
      const value = Math.trunc(lua.lua_tonumber(state, 2 + i));
      return Array.from({ length: size }, (_, j) => byteOf(value, size - 1 - j));
    });
    lua.lua_pushstring(state, Uint8Array.from(bytes));
    return 1;
  },
  unpack(state: LuaState) {
    const sizes = sizesOf(textAt(state, 1));
    const bytes = luaString(textAt(state, 2));
    let at = lua.lua_gettop(state) < 3 ? 0 : lua.lua_tonumber(state, 3) - 1;
    for (const size of sizes) {
      if (at + size > bytes.length) raise(state, 'data string too short');
      lua.lua_pushnumber(
        state,
        bytes.slice(at, at + size).reduce((value, byte) => value * 256 + byte, 0),
      );
      at += size;
    }
    lua.lua_pushnumber(state, at + 1);
    return sizes.length + 1;
  },
};

const byteOf = (value: number, place: number) => Math.floor(value / 256 ** place) % 256;
